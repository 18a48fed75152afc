import { openSchema } from '../../lib/db/schema.ts';
import { openSealer } from '../../lib/db/sealing-check.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Peers } from '../../lib/grpc/contract.ts';
import { guardService } from '../../lib/grpc/guard.ts';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { createLoginAuditor, createRecorder } from './audit-recorder.ts';
import type { AuthConfig } from './config.ts';
import { auditHandlers } from './handlers/audit.ts';
import { authorizationServerHandlers } from './handlers/authorization-server.ts';
import type { AuthHandlerContext } from './handlers/context.ts';
import { loginHandlers } from './handlers/logins.ts';
import { tokenHandlers } from './handlers/tokens.ts';
import { userHandlers } from './handlers/users.ts';
import { createIdentifier, IDENTITY_CACHE_MS } from './identity.ts';
import { startLastSeenWriter } from './last-seen.ts';
import { createSourceLimiter, limitIdentify } from './limits.ts';
import { createAuditStore } from './store/audit.ts';
import { createCredentialStore } from './store/credentials.ts';
import { createLoginStore, STORED_ID_TOKEN } from './store/logins.ts';
import { createTokenStore } from './store/tokens.ts';
import { createUserStore } from './store/users.ts';
import { administratorsOf, issuerOf, openTeam, type TeamOptions } from './team.ts';

/** The default callers of each RPC. */
export const peers: Peers<AuthServiceDefinition> = {
  identify: ['edge'],
  getAuthorizationServer: ['edge'],
  beginLogin: ['edge'],
  finishLogin: ['edge'],
  endLogin: ['edge'],
  createToken: ['edge'],
  listTokens: ['edge'],
  deleteToken: ['edge'],
  getUser: ['edge', 'agents', 'deployments'],
  listUsers: ['edge'],
  findUsers: ['edge', 'deployments'],
  setUserEnabled: ['edge'],
  listDisabledUsers: ['sessions'],
  recordActs: ['edge', 'agents', 'sessions', 'deployments', 'vaults'],
  listActs: ['edge'],
  verifyActs: ['edge'],
};

const SWEEP_EVERY_MS = 10 * 60 * 1_000;

/**
 * Opens the service that identifies callers, after the migration of its schema. Without `team`, it runs in local mode.
 * With `team`, the caller has checked the settings with `checkTeamSettings`. Throws SealingKeyProblem.
 */
export async function openAuth(
  context: ServiceContext,
  config: AuthConfig,
  team?: TeamOptions,
): Promise<OpenService> {
  const { bus, clock, ids, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'auth', migrations, pool: config.pool });
  const sealer =
    team &&
    (await openSealer(db, team.sealingKeys, [STORED_ID_TOKEN]).catch(async (error: unknown) => {
      await db.close();
      throw error;
    }));
  const keySweep = sweepIdempotencyKeys(db, clock, log);
  const users = createUserStore(db, administratorsOf(config), team && issuerOf(config));
  const logins = createLoginStore(db);
  const idleMs = config.loginIdleMinutes * 60_000;
  const credentials = createCredentialStore(db);
  const lastSeenWriter = startLastSeenWriter(credentials, clock, (error) =>
    log.warn({ err: error }, 'the times of last use could not be stored'),
  );
  const loginSweep = startPeriodicTask({
    clock,
    everyMs: SWEEP_EVERY_MS,
    work: (signal) => logins.sweep(clock.now(), new Date(clock.now().getTime() - idleMs), signal),
    onFailure: (error) => log.warn({ err: error }, 'ended logins could not be deleted'),
  });

  async function announce(channel: 'users.changed' | 'credentials.ended', subject: string): Promise<void> {
    bus.publish(channel, subject);
    await bus.awaitPropagation(IDENTITY_CACHE_MS);
  }

  const acts = createAuditStore(db);
  const opened =
    team &&
    sealer &&
    openTeam(config, team, {
      ...context,
      sealer,
      users,
      logins,
      auditLogin: createLoginAuditor(acts, clock),
      announceEnd: (digest) => announce('credentials.ended', digest),
    });
  const identities = createIdentifier({
    users,
    credentials,
    lastSeen: lastSeenWriter,
    bus,
    clock,
    issuer: team && issuerOf(config),
    accessTokens: opened?.accessTokens,
    idleMs,
  });
  const { requestsPerMinute, loginsPerMinute } = config;
  const limits = { rateLimiter: context.rateLimiter, clock, requestsPerMinute, loginsPerMinute };
  const sources = createSourceLimiter(limits);
  const isLimited = requestsPerMinute > 0 || loginsPerMinute > 0;
  const handlerContext: AuthHandlerContext = {
    identify: isLimited ? limitIdentify(identities.identify, limits, sources) : identities.identify,
    sourceLimiter: sources,
    logins: opened?.logins,
    authorizationServer: opened?.authorizationServer,
    users,
    tokens: createTokenStore(db),
    audit: acts,
    record: createRecorder(acts, clock),
    clock,
    ids,
    announce,
  };
  return {
    name: 'auth',
    endpoint: guardService(context, {
      contract: AuthServiceDefinition,
      handlers: {
        ...loginHandlers(handlerContext),
        ...authorizationServerHandlers(handlerContext),
        ...tokenHandlers(handlerContext),
        ...userHandlers(handlerContext),
        ...auditHandlers(handlerContext),
      },
      peers,
    }),
    check: () => db.check(),
    optionalParts: opened ? [{ name: 'identity provider', check: opened.checkProvider }] : [],
    async stop() {
      identities.stop();
      await Promise.all([keySweep.stop(), loginSweep.stop(), lastSeenWriter.stop()]);
      await db.close();
    },
  };
}
