import type { Clock } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type {
  ClaimWorkRequest,
  ConversationWork,
  DeliveryWork,
  ProbeWork,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ChannelWorkStore } from '../store/channel-work.ts';
import type { ConversationWorkStore } from '../store/conversation-work.ts';
import type { PostStore } from '../store/posts.ts';
import type { Channel, ChannelReader } from './channel-reader.ts';
import type { ClaimedConnection, ConnectionClaims } from './connection-claims.ts';
import { conversationWork } from './conversation-messages.ts';
import type { DeliveryClaims } from './delivery-claims.ts';
import type { WorkHints } from './work-hints.ts';

/** The longest pause between two looks for work: a hint can get lost. */
const MAX_PAUSE_MS = 1_000;
/** A waiting claim is answered this long before the deadline of its call. */
const DEADLINE_MARGIN_MS = 500;
/** Probes are short and rare, so they need no capacity of the worker. */
const PROBES = 10;

/** Work under leases, with its channels. */
export interface ClaimedWork {
  channels: Channel[];
  connections: ClaimedConnection[];
  conversations: ConversationWork[];
  deliveries: DeliveryWork[];
  probes: ProbeWork[];
}

interface WorkClaimsContext {
  store: ChannelWorkStore;
  connections: Pick<ConnectionClaims, 'claimConnections' | 'claimProbes' | 'releaseConnection'>;
  conversations: Pick<ConversationWorkStore, 'claim' | 'revoke'>;
  deliveries: DeliveryClaims;
  posts: Pick<PostStore, 'forWork'>;
  channels: Pick<ChannelReader, 'channelsOf'>;
  hints: WorkHints;
  clock: Clock;
}

export type WorkClaims = ReturnType<typeof createWorkClaims>;

/** Hands out the work on channels. A claim without work waits for a hint, and looks at least once a second. */
export function createWorkClaims(context: WorkClaimsContext) {
  const { store, connections, conversations, deliveries, posts, channels, hints, clock } = context;

  async function claimDue(request: ClaimWorkRequest, next: NextTimes, now: Date, call: Call) {
    const { workerId, leaseSeconds } = request;
    const leaseUntil = new Date(now.getTime() + leaseSeconds * 1000);
    const isDue = (at: Date | null) => at !== null && at <= now;
    const claim = { workerId, leaseSeconds, now };
    return {
      connections: isDue(next.connectionsAt)
        ? await connections.claimConnections({ ...claim, limit: request.connections }, call)
        : [],
      // A worker without free capacity gets the notices of its conversations.
      conversations: isDue(next.conversationsAt)
        ? await conversations.claim({ workerId, now, leaseUntil, limit: request.conversations }, call)
        : [],
      deliveries:
        isDue(next.deliveriesAt) && request.deliveries > 0
          ? await deliveries.claim({ now, leaseUntil, limit: request.deliveries }, call)
          : [],
      probes: next.hasProbes ? await connections.claimProbes({ ...claim, limit: PROBES }, call) : [],
    };
  }

  async function take(
    request: ClaimWorkRequest,
    call: Call,
  ): Promise<{ work: ClaimedWork; pauseMs: number }> {
    const next = await store.next({ trace: call.trace });
    const now = clock.now();
    const claimed = await claimDue(request, next, now, call);
    const ids = Object.values(claimed).flatMap((items) => items.map(({ deploymentId }) => deploymentId));
    if (ids.length === 0) return { work: NO_WORK, pauseMs: pauseUntil(next, now) };
    const found = await channels.channelsOf(ids, call);
    const work = {
      channels: [...found.values()],
      connections: claimed.connections,
      conversations: conversationWork(
        claimed.conversations,
        claimed.conversations.length > 0
          ? await posts.forWork(claimed.conversations, { trace: call.trace })
          : [],
      ),
      deliveries: await deliveries.works(claimed.deliveries, found, now, call),
      probes: claimed.probes,
    };
    return { work, pauseMs: 0 };
  }

  /** Ends the leases of a worker that has left before the answer, so that another worker can claim the work at once. */
  async function handBack(workerId: string, work: ClaimedWork, call: Call): Promise<void> {
    const now = clock.now();
    for (const delivery of work.deliveries) await deliveries.postpone(delivery, now, call);
    for (const connection of work.connections) await connections.releaseConnection(connection, now, call);
    if (work.conversations.length > 0) await conversations.revoke(workerId, work.conversations, now, call);
  }

  return {
    /** Resolves as soon as there is work, and without work when the time to wait has passed. */
    async claim(request: ClaimWorkRequest, call: Call): Promise<ClaimedWork> {
      const start = clock.now().getTime();
      const end = Math.min(start + request.waitMs, call.deadline - DEADLINE_MARGIN_MS);
      for (;;) {
        if (call.signal.aborted) throw cancelled();
        if (hints.isClosed) return NO_WORK;
        using listener = hints.listen();
        const { work, pauseMs } = await take(request, call);
        const left = end - clock.now().getTime();
        const hasWork = Object.values(work).some((items) => items.length > 0);
        if (call.signal.aborted) {
          await handBack(request.workerId, work, call);
          throw cancelled();
        }
        if (hasWork || left <= 0) return work;
        await listener.wait(Math.min(left, pauseMs), call.signal);
      }
    },
  };
}

function cancelled() {
  return refuse('CANCELLED', 'The caller disconnected before the response.');
}

type NextTimes = Awaited<ReturnType<ChannelWorkStore['next']>>;

const NO_WORK: ClaimedWork = { channels: [], connections: [], conversations: [], deliveries: [], probes: [] };

/** Work that is due and was not claimed waits for something else, so it is looked at again after the longest pause. */
function pauseUntil({ connectionsAt, conversationsAt, deliveriesAt }: NextTimes, now: Date): number {
  const times = [connectionsAt, conversationsAt, deliveriesAt].flatMap((at) => (at && at > now ? [at] : []));
  return Math.min(MAX_PAUSE_MS, ...times.map((at) => at.getTime() - now.getTime()));
}
