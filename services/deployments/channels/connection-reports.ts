import type { Bus } from '../../../lib/bus/bus.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type { ChannelIdentity } from '../domain/channels/channel.ts';
import {
  applyReport,
  type Connection,
  type ConnectionReport,
  requireLease,
} from '../domain/channels/connection.ts';
import type { ConnectionStore } from '../store/connections.ts';
import type { ChannelSealing } from './channel-sealing.ts';

interface ReportedConnection {
  deploymentId: string;
  fence: number;
  state: ConnectionReport['state'];
  /** Empty: none. */
  error: string;
  /** Undefined: unchanged. */
  identity: ChannelIdentity | undefined;
  /** Undefined: unchanged. */
  resumeState: Uint8Array | undefined;
}

interface ConnectionReportsContext {
  store: Pick<ConnectionStore, 'change'>;
  sealing: ChannelSealing;
  bus: Bus;
  clock: Clock;
  log: Log;
}

/** Returns the function that stores what a worker reports about its connection. It refuses an old fence with LEASE_LOST. */
export function createConnectionReports(context: ConnectionReportsContext) {
  const { store, sealing, bus, clock, log } = context;

  return async (reported: ReportedConnection, { trace }: Pick<Call, 'trace'>): Promise<void> => {
    const { deploymentId, fence, state, error, identity, resumeState } = reported;
    const sealedResume = resumeState && sealing.sealResume(resumeState, deploymentId);
    let isRemoval = false;
    const decide = (before: Connection | undefined) => {
      const held = requireLease(before, fence);
      isRemoval = held.wanted === 'remove';
      return applyReport(held, { state, error, sealedResume }, clock.now());
    };
    await store.change(deploymentId, decide, identity, { trace });
    if (isRemoval && state === 'failed')
      log.warn(
        { deployment_id: deploymentId, problem: error },
        'a disabled or deleted channel could not be removed from its product; it is not tried again',
      );
    if (identity) bus.publish('channels.changed', deploymentId);
  };
}

export type ConnectionReports = ReturnType<typeof createConnectionReports>;
