import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Peers } from '../../lib/grpc/contract.ts';
import { guard } from '../../lib/grpc/guard.ts';
import { startRounds } from '../../lib/rounds.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { AuthConfig } from './config.ts';
import { createHandlers } from './handlers.ts';
import { createIdentities, MAX_AGE_MS } from './identity.ts';
import { createSources, limited } from './limits.ts';
import { createLoginNotes, createRecorder } from './recorder.ts';
import { openSightings } from './sightings.ts';
import { createActStore } from './store/acts.ts';
import { createCredentialStore } from './store/credentials.ts';
import { createLoginStore } from './store/logins.ts';
import { createTokenStore } from './store/tokens.ts';
import { createUserStore } from './store/users.ts';
import { administratorsOf, issuerOf, openTeam, type Team } from './team.ts';

const peers: Peers<AuthServiceDefinition> = {
  identify: ['edge'],
  beginLogin: ['edge'],
  finishLogin: ['edge'],
  endLogin: ['edge'],
  createToken: ['edge'],
  listTokens: ['edge'],
  deleteToken: ['edge'],
  getUser: ['edge', 'agents', 'deployments'],
  listUsers: ['edge'],
  setUserEnabled: ['edge'],
  listDisabledUsers: ['sessions'],
  recordActs: ['edge', 'agents', 'sessions', 'deployments'],
  listActs: ['edge'],
  verifyActs: ['edge'],
};

const SWEEP_EVERY_MS = 10 * 60 * 1_000;

/**
 * Opens the service that knows who is calling; its schema is brought up to date first. Without a team it is in local
 * mode; with one, the settings have passed `checkTeam`.
 */
export async function openAuth(
  context: ServiceContext,
  config: AuthConfig,
  team?: Team,
): Promise<OpenService> {
  const { bus, clock, ids, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'auth', migrations, pool: config.pool });
  const keySweep = sweepIdempotencyKeys(db, clock, (error) =>
    log.warn({ err: error }, 'old idempotency keys could not be deleted'),
  );
  const users = createUserStore(db, administratorsOf(config));
  const logins = createLoginStore(db);
  const idleMs = config.loginIdleMinutes * 60_000;
  const credentials = createCredentialStore(db);
  const sightings = openSightings(credentials, clock, (error) =>
    log.warn({ err: error }, 'when users were last seen could not be written down'),
  );
  const loginSweep = startRounds({
    clock,
    everyMs: SWEEP_EVERY_MS,
    work: (signal) => logins.sweep(clock.now(), new Date(clock.now().getTime() - idleMs), signal),
    onFailure: (error) => log.warn({ err: error }, 'logins that have ended could not be deleted'),
  });

  async function announce(channel: 'users.changed' | 'credentials.ended', subject: string): Promise<void> {
    bus.publish(channel, subject);
    await bus.settle(MAX_AGE_MS);
  }

  const acts = createActStore(db);
  const opened =
    team &&
    openTeam(config, team, {
      ...context,
      users,
      logins,
      note: createLoginNotes(acts, clock),
      ended: (digest) => announce('credentials.ended', digest),
    });
  const identities = createIdentities({
    users,
    credentials,
    sightings,
    bus,
    clock,
    issuer: team && issuerOf(config),
    accessTokens: opened?.accessTokens,
    idleMs,
  });
  const { requestsPerMinute, loginsPerMinute } = config;
  const limits = { counters: context.counters, clock, requestsPerMinute, loginsPerMinute };
  const sources = createSources(limits);
  const isLimited = requestsPerMinute > 0 || loginsPerMinute > 0;
  const handlers = createHandlers({
    identify: isLimited ? limited(identities.identify, limits, sources) : identities.identify,
    sources,
    logins: opened?.logins,
    users,
    tokens: createTokenStore(db),
    acts,
    record: createRecorder(acts, clock),
    clock,
    ids,
    announce,
  });
  return {
    name: 'auth',
    endpoint: guard({
      contract: AuthServiceDefinition,
      handlers,
      peers,
      secret: context.serviceSecret,
      clock,
      observe: context.observe,
      tracer: context.tracer,
    }),
    check: () => db.check(),
    async stop() {
      identities.stop();
      await Promise.all([keySweep.stop(), loginSweep.stop(), sightings.stop()]);
      await db.close();
    },
  };
}
