import type { Clock } from '../../../lib/clock.ts';
import { refuse, refuseField } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  PulledPost,
  type PullPostsRequest,
  type PullPostsResponse,
} from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { deploymentNotFound, isValidAddress } from '../domain/deployments.ts';
import type { PostStore, PulledRow } from '../store/posts.ts';
import type { ChannelReader, OpenChannel } from './channel-reader.ts';
import type { Inbox } from './inbox.ts';
import type { Verification } from './verification.ts';
import type { WorkHints } from './work-hints.ts';

const MAX_WAIT_MS = 60_000;
/** Pulls find changes whose hint was lost. */
const POLL_MS = 1_000;
const DEADLINE_MARGIN_MS = 500;
const MAX_POSTS = 100;
const CURSOR = /^(0|[1-9]\d{0,14})$/;

interface PullsContext {
  channels: Pick<ChannelReader, 'find'>;
  posts: Pick<PostStore, 'pull'>;
  verification: Pick<Verification, 'findPullFault'>;
  logUnused: Inbox['logUnused'];
  hints: WorkHints;
  clock: Clock;
}

export type Pulls = ReturnType<typeof createPulls>;

/** Serves the posts of channels with the provider http, in the order of their changes. */
export function createPulls({ channels, posts, verification, logUnused, hints, clock }: PullsContext) {
  /** Unknown, deleted and disabled channels, and those of other products, are refused alike. */
  async function authenticate(request: PullPostsRequest, call: Call): Promise<OpenChannel> {
    const { deploymentId } = request;
    const isValid = isValidAddress({ agentId: '', deploymentId });
    const channel = isValid ? await channels.find(deploymentId, call) : undefined;
    if (channel?.status !== 'enabled' || channel.provider !== 'http') throw deploymentNotFound();
    const reason = verification.findPullFault(channel, request, clock.now());
    if (reason === undefined) return channel;
    const origin = { size: 0, sourceAddress: request.sourceAddress, traceparent: traceparent(call.trace) };
    logUnused(channel, origin, { result: 'refused', reason });
    throw refuse('DEPLOYMENT_UNAUTHORIZED', 'The signature of the request is missing or not valid.');
  }

  return {
    /** A caller that has processed the posts sends `next_after`; until then it gets them again. */
    async pull(request: PullPostsRequest, call: Call): Promise<PullPostsResponse> {
      const { deploymentId } = await authenticate(request, call);
      const after = checkedAfter(request.after);
      const waitMs = checkedWait(request.waitMs);
      const end = Math.min(clock.now().getTime() + waitMs, call.deadline - DEADLINE_MARGIN_MS);
      for (;;) {
        if (hints.isClosed) return { posts: [], nextAfter: String(after) };
        using listener = hints.listen(deploymentId);
        const rows = await posts.pull(deploymentId, after, MAX_POSTS, call);
        const left = end - clock.now().getTime();
        if (rows.length > 0 || left <= 0)
          return { posts: rows.map(pulledPost), nextAfter: String(rows.at(-1)?.change ?? after) };
        await listener.wait(Math.min(left, POLL_MS), call.signal);
        if (call.signal.aborted) throw refuse('CANCELLED', 'The caller disconnected before the response.');
      }
    },
  };
}

function pulledPost({ content }: PulledRow): PulledPost {
  return PulledPost.decode(content);
}

function checkedAfter(after: string): number {
  if (after === '') return 0;
  if (!CURSOR.test(after)) throw refuseField('/after', 'must be `next_after` of an earlier response');
  return Number(after);
}

function checkedWait(waitMs: number): number {
  if (waitMs < 0 || waitMs > MAX_WAIT_MS) throw refuseField('/wait_seconds', 'must be from 0 to 60');
  return waitMs;
}
