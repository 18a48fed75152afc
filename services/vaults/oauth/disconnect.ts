import { Refusal } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type { Connection } from '../domain/connection.ts';
import type { VaultKeys } from '../keys/vault-keys.ts';
import type { ConnectionStore } from '../store/connections.ts';
import { TokenError } from './token-error.ts';
import type { TokenRequests } from './token-requests.ts';

interface DisconnectContext {
  connections: Pick<ConnectionStore, 'secret'>;
  keys: Pick<VaultKeys, 'open'>;
  requests: Pick<TokenRequests, 'revoke'>;
  log: Log;
}

/** Revokes the tokens of a connection at their issuer. */
export type Disconnect = (connection: Connection, call: Call) => Promise<void>;

/**
 * Returns a function that revokes tokens. A connection whose issuer cannot be reached, or whose secret cannot be opened, is
 * disconnected all the same.
 */
export function createDisconnect({ connections, keys, requests, log }: DisconnectContext): Disconnect {
  async function revoke({ credentialId, publicMembers }: Connection, call: Call): Promise<void> {
    if (publicMembers?.$case !== 'oauth') return;
    const stored = await connections.secret(credentialId, call);
    if (!stored) return;
    const { key, generation, sealed } = stored;
    const secrets = await keys.open(key, { credentialId, generation }, sealed);
    const client = { ...publicMembers.value, clientSecret: secrets.client_secret };
    // The end of a refresh token ends its access tokens, but not at every issuer.
    for (const token of [secrets.refresh_token, secrets.access_token])
      if (token) await requests.revoke(client, token, call.signal);
  }

  return async (connection, call) => {
    try {
      await revoke(connection, call);
    } catch (error) {
      const isKnown =
        error instanceof TokenError || (error instanceof Refusal && error.code === 'VAULT_SEALED');
      if (!isKnown) throw error;
      const { credentialId } = connection;
      log.warn(
        { credential_id: credentialId, reason: error.message },
        'tokens were not revoked at their issuer',
      );
    }
  };
}
