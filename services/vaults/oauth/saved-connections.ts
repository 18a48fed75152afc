import { type Clock, wait } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Connection } from '../domain/connection.ts';
import { type CredentialSecrets, checkCredentialCount } from '../domain/credential.ts';
import type { CredentialSealer } from '../sealing.ts';
import type { ConnectionAttempt } from '../store/connection-attempts.ts';
import type { ConnectionGrant, ConnectionStore } from '../store/connections.ts';
import type { Finished } from './connecting.ts';

interface SavedConnectionsContext {
  connections: ConnectionStore;
  sealer: CredentialSealer;
  sessions: Pick<Client<SessionsServiceDefinition>, 'resolveAuthorizations'>;
  record: AuditRecorder;
  publishHint: (credentialId: string) => void;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** A connection is sealed again when a rotation or another connection came between. */
const MAX_ATTEMPTS = 5;
/** The waits before another attempt to continue the waiting sessions. */
const RESOLVE_RETRY_MS = [100, 400];

export type SavedConnections = ReturnType<typeof createSavedConnections>;

/** Stores connections of users, and continues their sessions that wait for the server. */
export function createSavedConnections(context: SavedConnectionsContext) {
  const { connections, sealer, sessions, record, publishHint, clock, ids, log } = context;

  /** A session that is not continued stays blocked until its owner decides its approval with `retry`. */
  async function continueSessions(userId: string, mcpServerId: string, call: Call): Promise<void> {
    const { trace, requestId } = call;
    for (const retryMs of [...RESOLVE_RETRY_MS, undefined]) {
      try {
        await sessions.resolveAuthorizations({ userId, mcpServerId }, { trace, requestId });
        return;
      } catch (error) {
        if (retryMs === undefined)
          log.warn(
            { err: error, mcp_server_id: mcpServerId },
            'the sessions that wait for a server were not continued',
          );
        else await wait(clock, retryMs);
      }
    }
  }

  /** Stores a connection of the caller, or replaces the one to the same server. */
  async function save(
    grant: Omit<ConnectionGrant, 'ownerId'>,
    secrets: CredentialSecrets,
    call: Call,
  ): Promise<Connection> {
    const { userId: ownerId } = callerOf(call);
    const { mcpServerId } = grant;
    const vaultId = await connections.openVault(ownerId, ids('vlt'), clock.now(), call);
    let isRecorded = false;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const known = await connections.ofServer(ownerId, mcpServerId, call);
      if (!known) checkCredentialCount(await connections.count(vaultId, call));
      const credentialId = known?.credentialId ?? ids('crd');
      const slot = { vaultId, credentialId, generation: (known?.generation ?? 0) + 1 };
      const sealed = await sealer.seal(slot, secrets);
      if (!isRecorded) {
        const data = { mcp_server_id: mcpServerId, scopes: grant.scopes };
        await record({ action: 'connection.finish', targetId: credentialId, data }, call);
        isRecorded = true;
      }
      if (!(await connections.put(slot, { ...grant, ownerId }, sealed, clock.now(), call))) continue;
      publishHint(credentialId);
      await continueSessions(ownerId, mcpServerId, call);
      const saved = await connections.ofServer(ownerId, mcpServerId, call);
      if (saved) return saved;
    }
    throw refuse('DEPENDENCY_UNAVAILABLE', 'Concurrent changes prevented the operation. Try again.', {
      retryAfterSeconds: 1,
    });
  }

  return {
    save,

    /** Stores the tokens of a finished authorization. */
    saveAuthorization(
      { mcpServerId, mcpServerUrl }: ConnectionAttempt,
      { oauth, clientSecret, grant }: Omit<Finished, 'attempt'>,
      call: Call,
    ): Promise<Connection> {
      const { accessToken, refreshToken, expiresAt, account, scopes = oauth.scopes } = grant;
      const members = {
        access_token: accessToken,
        ...(refreshToken && { refresh_token: refreshToken }),
        ...(clientSecret && { client_secret: clientSecret }),
      };
      const publicMembers = { $case: 'oauth', value: oauth } as const;
      const server = { mcpServerId, mcpServerUrl, type: 'oauth2' } as const;
      return save(
        { ...server, publicMembers, account, scopes, expiresAt },
        { members, described: refreshToken ?? accessToken },
        call,
      );
    },
  };
}
