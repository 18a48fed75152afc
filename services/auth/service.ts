import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Settings } from '../../lib/env.ts';
import type { Peers } from '../../lib/grpc/contract.ts';
import { guard } from '../../lib/grpc/guard.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { settings } from './config.ts';
import { createHandlers } from './handlers.ts';
import { createIdentities, MAX_AGE_MS } from './identity.ts';
import { openSightings } from './sightings.ts';
import { createCredentialStore } from './store/credentials.ts';
import { createTokenStore } from './store/tokens.ts';
import { createUserStore } from './store/users.ts';

const peers: Peers<AuthServiceDefinition> = {
  identify: ['edge'],
  beginLogin: ['edge'],
  finishLogin: ['edge'],
  endLogin: ['edge'],
  createToken: ['edge'],
  listTokens: ['edge'],
  deleteToken: ['edge'],
  getUser: ['edge', 'deployments'],
  listUsers: ['edge'],
  setUserEnabled: ['edge'],
};

/** Opens the service that knows who is calling; its schema is brought up to date first. */
export async function openAuth(
  context: ServiceContext,
  config: Settings<typeof settings>,
): Promise<OpenService> {
  const { bus, clock, ids, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'auth', migrations, pool: config.pool });
  const endSweeping = sweepIdempotencyKeys(db, clock, (error) =>
    log.warn({ err: error }, 'old idempotency keys could not be deleted'),
  );
  const users = createUserStore(db);
  const credentials = createCredentialStore(db);
  const sightings = openSightings(credentials, clock, (error) =>
    log.warn({ err: error }, 'when users were last seen could not be written down'),
  );
  const identities = createIdentities({
    users,
    credentials,
    sightings,
    bus,
    clock,
    issuer: undefined,
    idleMs: 0,
  });
  const handlers = createHandlers({
    identities,
    users,
    tokens: createTokenStore(db),
    clock,
    ids,
    async announce(channel, subject) {
      bus.publish(channel, subject);
      await bus.settle(MAX_AGE_MS);
    },
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
      endSweeping();
      await sightings.stop();
      await db.close();
    },
  };
}
