import type { Clock } from '../../../lib/clock.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import { LruCache } from '../../../lib/lru.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LendingStore } from '../store/lendings.ts';
import type { LendingAudit } from './audit.ts';
import type { LeasedTurn } from './turn-access.ts';

/** A credential that a turn is about to send to a host. */
interface CredentialUse {
  credentialId: string;
  vaultId: string;
  host: string;
  /** The audit log has an entry for the turn, the credential and the host. */
  isRecorded: boolean;
}

interface UseRecorderContext {
  sessions: Pick<Client<SessionsServiceDefinition>, 'checkLease'>;
  lendings: Pick<LendingStore, 'add' | 'isRecorded'>;
  audit: Pick<LendingAudit, 'recordLending'>;
  clock: Clock;
}

/** The uses that are being recorded, or were recorded by this process. */
const MAX_USES = 10_000;

export type UseRecorder = ReturnType<typeof createUseRecorder>;

/** Records uses of credentials: first in the audit log, then in the journal of the session. */
export function createUseRecorder({ sessions, lendings, audit, clock }: UseRecorderContext) {
  const recorded = new LruCache<string, Promise<void>>(MAX_USES);

  /**
   * The lending is stored also when the journal cannot be written, so that a repetition writes no second entry of the audit
   * log.
   */
  async function write(use: CredentialUse, turn: LeasedTurn, call: Call): Promise<void> {
    const { credentialId, host, isRecorded } = use;
    const { turnId, lease } = turn;
    if (!isRecorded) await audit.recordLending(use, turn, call);
    const written = await Promise.allSettled([
      isRecorded ? undefined : lendings.add({ turnId, credentialId, host }, clock.now(), call),
      sessions.checkLease({ lease, uses: [{ credentialId, host }] }, call),
    ]);
    for (const result of written) if (result.status === 'rejected') throw result.reason;
  }

  return {
    /**
     * Records a use once for each turn, credential and host. Rejects when it cannot be audited or journaled; the credential
     * may not be used then. Refused with LEASE_LOST. Concurrent calls in this process record it together.
     */
    async record(use: CredentialUse, turn: LeasedTurn, call: Call): Promise<void> {
      const { credentialId, host } = use;
      const { turnId } = turn;
      const key = `${turnId} ${credentialId} ${host}`;
      let { isRecorded } = use;
      for (;;) {
        const other = recorded.get(key);
        if (!other) break;
        const isWritten = await other.then(
          () => true,
          () => false,
        );
        if (isWritten) return;
        isRecorded = await lendings.isRecorded({ turnId, credentialId, host }, call);
      }
      const writing = write({ ...use, isRecorded }, turn, call);
      recorded.set(key, writing);
      await writing.catch((error: unknown) => {
        if (recorded.peek(key) === writing) recorded.delete(key);
        throw error;
      });
    },
  };
}
