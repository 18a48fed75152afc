import { createCache } from '../../lib/cache.ts';
import { openSchema } from '../../lib/db/schema.ts';
import type { Settings } from '../../lib/env.ts';
import type { Peers } from '../../lib/grpc/contract.ts';
import { guard } from '../../lib/grpc/guard.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { settings } from './config.ts';
import type { User } from './domain.ts';
import { createHandlers } from './handlers.ts';
import { createStore } from './store.ts';

const peers: Peers<AuthServiceDefinition> = {
  identify: ['edge'],
  getUser: ['edge', 'deployments'],
};

/** A disabled user is refused everywhere within this time. */
const USER_AGE_MS = 1_000;

export async function openAuth(
  context: ServiceContext,
  config: Settings<typeof settings>,
): Promise<OpenService> {
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'auth', migrations, pool: config.pool });
  const users = createCache<User | undefined>(context.clock, USER_AGE_MS);
  const forget = context.bus.subscribe('users.changed', (userId) => users.drop(userId));
  return {
    name: 'auth',
    endpoint: guard({
      contract: AuthServiceDefinition,
      handlers: createHandlers(createStore(db), users),
      peers,
      secret: context.serviceSecret,
      clock: context.clock,
      observe: context.observe,
      tracer: context.tracer,
    }),
    check: () => db.check(),
    async stop() {
      forget();
      await db.close();
    },
  };
}
