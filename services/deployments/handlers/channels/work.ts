import { refuse, refuseField } from '../../../../lib/errors.ts';
import type { Handlers } from '../../../../lib/grpc/contract.ts';
import { isId } from '../../../../lib/ids.ts';
import type {
  ClaimWorkRequest,
  LeaseReference,
} from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { DeploymentsServiceDefinition } from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { DeploymentsHandlerContext } from '../context.ts';

type Methods = Pick<
  Handlers<DeploymentsServiceDefinition>,
  'claimWork' | 'renewLeases' | 'releaseLease' | 'finishDelivery' | 'decideFromChannel' | 'listChannelWorkers'
>;

const MAX_WAIT_MS = 30_000;
const MIN_LEASE_SECONDS = 5;
const MAX_LEASE_SECONDS = 300;
const MAX_CAPACITY = 1_000;
const MAX_LEASES = 10_000;

/** Work of channel workers under leases. */
export function channelWorkHandlers(context: DeploymentsHandlerContext): Methods {
  const { workClaims, workMessages, workerPresence, claims, conversationWork } = context;
  const { deliveryResults, decisions, clock, wakeWork } = context;

  return {
    async claimWork(request, call) {
      const checked = checkedClaim(request);
      await workerPresence.note(checked.workerId, call);
      return workMessages.response(await workClaims.claim(checked, call), call);
    },

    async renewLeases({ workerId, leaseSeconds, leases }, call) {
      checkWorker(workerId);
      checkLease(leaseSeconds);
      if (leases.length > MAX_LEASES) throw refuseField('/leases', `has more than ${MAX_LEASES} items`);
      await workerPresence.note(workerId, call);
      const now = clock.now();
      const leaseUntil = new Date(now.getTime() + leaseSeconds * 1000);
      const { connection = [], conversation = [] } = Object.groupBy(leases, kindOf);
      const lost = await conversationWork.renew(workerId, conversation, { now, leaseUntil }, call);
      const renewed = await claims.renewConnections(connection, { workerId, leaseSeconds, now }, call);
      const kept = new Set(renewed.map(({ deploymentId, fence }) => `${deploymentId} ${fence}`));
      const lostConnections = connection.filter((one) => !kept.has(`${one.deploymentId} ${one.fence}`));
      if (lost.length > 0) wakeWork('');
      return {
        lost: [...lostConnections, ...lost.map((lease) => ({ ...lease, kind: 'conversation' }))],
      };
    },

    async releaseLease({ lease, toldSeq }, call) {
      if (!lease) throw refuseField('/lease', 'is required');
      const now = clock.now();
      if (kindOf(lease) === 'connection') {
        await claims.releaseConnection(lease, now, call);
      } else if (!(await conversationWork.release(lease, toldSeq, now, call))) {
        throw refuse('LEASE_LOST', 'Another channel worker holds the conversation.');
      }
      wakeWork(lease.deploymentId);
      return {};
    },

    async finishDelivery(request, call) {
      return { linkNotice: await deliveryResults.finish(request, call) };
    },

    decideFromChannel: (request, call) => decisions.decide(request, call),

    listChannelWorkers: (_, call) => workerPresence.find(call),
  };
}

function kindOf({ kind }: Pick<LeaseReference, 'kind'>): 'connection' | 'conversation' {
  if (kind !== 'connection' && kind !== 'conversation')
    throw refuseField('/leases/kind', 'must be connection or conversation');
  return kind;
}

function checkedClaim(request: ClaimWorkRequest): ClaimWorkRequest {
  const { workerId, leaseSeconds, waitMs, connections, conversations, deliveries } = request;
  checkWorker(workerId);
  checkLease(leaseSeconds);
  if (waitMs < 0 || waitMs > MAX_WAIT_MS) throw refuseField('/wait_ms', `must be from 0 to ${MAX_WAIT_MS}`);
  return {
    ...{ workerId, leaseSeconds, waitMs },
    connections: capacity(connections),
    conversations: capacity(conversations),
    deliveries: capacity(deliveries),
  };
}

const capacity = (free: number) => Math.min(MAX_CAPACITY, Math.max(0, free));

function checkWorker(workerId: string): void {
  if (!isId('wrk', workerId)) throw refuseField('/worker_id', 'must be the id of a channel worker');
}

function checkLease(leaseSeconds: number): void {
  if (leaseSeconds < MIN_LEASE_SECONDS || leaseSeconds > MAX_LEASE_SECONDS)
    throw refuseField('/lease_seconds', `must be from ${MIN_LEASE_SECONDS} to ${MAX_LEASE_SECONDS}`);
}
