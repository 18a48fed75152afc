import { createCache } from '../../lib/cache.ts';
import { openDatabase } from '../../lib/db/database.ts';
import { migrate } from '../../lib/db/migrations.ts';
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
  await migrate(context.databaseUrl, 'auth', new URL('migrations', import.meta.url));
  const db = openDatabase({
    url: context.databaseUrl,
    schema: 'auth',
    pool: config.pool,
    onIdleError: (error) => context.log.warn({ err: error }, 'a database connection failed'),
  });
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
    }),
    check: () => db.check(),
    async stop() {
      forget();
      await db.close();
    },
  };
}
