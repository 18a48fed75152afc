import type { Call } from '../../../lib/grpc/contract.ts';
import type { ConnectionLease, ConnectionLeaseStore } from '../store/connection-leases.ts';
import type { ProbeStore } from '../store/probes.ts';
import type { ChannelSealing } from './channel-sealing.ts';

/** A claim of work by a channel worker. */
export interface WorkClaim {
  workerId: string;
  /** At most this many. */
  limit: number;
  leaseSeconds: number;
  now: Date;
}

export interface ClaimedConnection {
  deploymentId: string;
  fence: number;
  /** The worker removes the webhooks and commands of the channel. */
  remove: boolean;
  /** What the last worker reported, for its product. Undefined: none. */
  resumeState: Buffer | undefined;
}

/** A probe whose caller has left is not answered. */
const PROBE_MS = 30_000;

interface ConnectionClaimsContext {
  leases: ConnectionLeaseStore;
  probes: ProbeStore;
  sealing: ChannelSealing;
}

export type ConnectionClaims = ReturnType<typeof createConnectionClaims>;

/** The leases of channel workers on connections and probes. */
export function createConnectionClaims({ leases, probes, sealing }: ConnectionClaimsContext) {
  const end = (now: Date, seconds: number) => new Date(now.getTime() + seconds * 1000);

  return {
    async claimConnections(
      { workerId, limit, leaseSeconds, now }: WorkClaim,
      { trace }: Pick<Call, 'trace'>,
    ): Promise<ClaimedConnection[]> {
      if (limit <= 0) return [];
      const claim = { workerId, limit, now, leaseUntil: end(now, leaseSeconds) };
      const claimed = await leases.claim(claim, { trace });
      return claimed.map(({ deploymentId, fence, removes, sealedResume }) => ({
        ...{ deploymentId, fence, remove: removes },
        resumeState: sealedResume === null ? undefined : sealing.openResume(sealedResume, deploymentId),
      }));
    },

    /** Returns the leases that were renewed. All others have ended. */
    renewConnections: (
      given: readonly ConnectionLease[],
      { workerId, leaseSeconds, now }: Omit<WorkClaim, 'limit'>,
      { trace }: Pick<Call, 'trace'>,
    ): Promise<ConnectionLease[]> => leases.renew(given, workerId, end(now, leaseSeconds), { trace }),

    /** Another worker can claim the connection at once. A lease that has ended is not changed. */
    releaseConnection: (lease: ConnectionLease, now: Date, { trace }: Pick<Call, 'trace'>): Promise<void> =>
      leases.release(lease, now, { trace }),

    /** The lease of a probe is not renewed. */
    async claimProbes({ limit, leaseSeconds, now }: WorkClaim, { trace }: Pick<Call, 'trace'>) {
      if (limit <= 0) return [];
      const requestedAfter = new Date(now.getTime() - PROBE_MS);
      return probes.claim(limit, { now, until: end(now, leaseSeconds), requestedAfter }, { trace });
    },

    /** The next time at which a connection can be claimed without a change of a channel. */
    nextConnectionAt: (): Promise<Date | undefined> => leases.next(),
  };
}
