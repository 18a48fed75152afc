import type { Database } from '../../../lib/db/database.ts';
import { createConnectionAttemptStore } from './connection-attempts.ts';
import { createConnectionStore } from './connections.ts';
import { createOAuthClientStore } from './oauth-clients.ts';
import { createTokenRefreshStore } from './token-refreshes.ts';

export type OAuthStores = ReturnType<typeof createOAuthStores>;

/** The stores of connections and their tokens. */
export function createOAuthStores(db: Database) {
  return {
    attempts: createConnectionAttemptStore(db),
    clients: createOAuthClientStore(db),
    connections: createConnectionStore(db),
    tokens: createTokenRefreshStore(db),
  };
}
