import type { Clock } from '../../../lib/clock.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import { LruCache } from '../../../lib/lru.ts';

/** The session of a turn, for entries of the audit log. */
export interface TurnOrigin {
  sessionId: string;
  turnId: string;
  ownerId: string;
  agentId: string;
}

/** A credential that a host receives. */
interface SentCredential {
  credentialId: string;
  vaultId: string;
  host: string;
}

/** A request for a credential that the turn may not use, or without a valid lease. */
interface RefusedRequest {
  /** The server, credential or turn that the request names. Empty for a malformed id. */
  targetId: string;
  reason:
    | 'lease_lost'
    | 'server_not_in_agent_version'
    | 'host_not_in_session'
    | 'variable_not_in_session'
    | 'credential_not_lent';
  /** Absent without a valid lease. */
  origin?: TurnOrigin;
}

interface LendingAuditContext {
  record: AuditRecorder;
  clock: Clock;
  log: Log;
}

/** Like refusals of one runner are recorded at most this often, so that it cannot fill the audit log. */
const REFUSAL_INTERVAL_MS = 60_000;
const MAX_REFUSALS = 1_000;

export type LendingAudit = ReturnType<typeof createLendingAudit>;

/** Writes the entries of the audit log for lendings. */
export function createLendingAudit({ record, clock, log }: LendingAuditContext) {
  const refusals = new LruCache<string, number>(MAX_REFUSALS);

  function isRecent(key: string): boolean {
    return clock.now().getTime() - (refusals.get(key) ?? -Infinity) < REFUSAL_INTERVAL_MS;
  }

  return {
    /** Records that a turn gets a credential. Rejects when it cannot be recorded; nothing may be lent then. */
    async recordLending(
      { credentialId, host, vaultId }: SentCredential,
      origin: TurnOrigin,
      call: Call,
    ): Promise<void> {
      const data = { ...dataOf(origin), vault_id: vaultId, host };
      await record({ action: 'credential.lend', targetId: credentialId, data }, call);
    },

    /** Records a request for a credential that was refused. The request stays refused if that fails. */
    async recordRefusal({ targetId, reason, origin }: RefusedRequest, call: Call): Promise<void> {
      const key = `${call.peer} ${origin?.turnId ?? ''} ${targetId} ${reason}`;
      if (isRecent(key)) return;
      refusals.set(key, clock.now().getTime());
      const data = { ...(origin && dataOf(origin)), reason };
      await record({ action: 'credential.lend', targetId, outcome: 'refused', data }, call).catch(
        (error: unknown) => log.warn({ err: error }, 'a refused request for a credential was not audited'),
      );
    },

    /** Records that a server refused a credential of a turn, at most once a minute. */
    async recordServerRefusal(
      { credentialId, host, vaultId }: SentCredential,
      origin: TurnOrigin,
      call: Call,
    ): Promise<void> {
      const key = `${origin.turnId} ${credentialId} ${host}`;
      if (isRecent(key)) return;
      const data = { ...dataOf(origin), vault_id: vaultId, host };
      await record({ action: 'credential.refuse', targetId: credentialId, data }, call);
      refusals.set(key, clock.now().getTime());
    },

    /** Records that an answer of a host contained a secret of a turn, at most once a minute. */
    async recordEcho(
      { credentialId, host }: Pick<SentCredential, 'credentialId' | 'host'>,
      origin: TurnOrigin,
      call: Call,
    ): Promise<void> {
      const key = `echo ${origin.turnId} ${credentialId} ${host}`;
      if (isRecent(key)) return;
      const data = { ...dataOf(origin), host };
      await record({ action: 'credential.echo', targetId: credentialId, data }, call);
      refusals.set(key, clock.now().getTime());
    },
  };
}

function dataOf({ sessionId, turnId, ownerId, agentId }: TurnOrigin) {
  return { session_id: sessionId, turn_id: turnId, owner_id: ownerId, agent_id: agentId };
}
