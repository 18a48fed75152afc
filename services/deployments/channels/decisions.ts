import { Refusal } from '../../../lib/errors.ts';
import type { Call, Caller, Client } from '../../../lib/grpc/contract.ts';
import type { DecideFromChannelResponse } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { Approval, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { canUse, mayApprove } from '../domain/channels/access.ts';
import type { DeliveryWorkStore } from '../store/delivery-work.ts';
import type { PostStore, StoredPost } from '../store/posts.ts';
import type { AccountUsers } from './accounts.ts';
import { type DeliveryResults, deliveryLost } from './delivery-results.ts';
import type { ChannelUser, ChannelUsers } from './users.ts';

/** A longer input is not shown whole in a post, so it cannot be allowed there. */
const WHOLE_INPUT_CHARACTERS = 2_500;
const PAGE = { limit: 100, cursor: '' };

type Reason = 'not_linked' | 'not_an_approver' | 'no_access' | 'input_not_whole' | 'not_found' | 'expired';

interface DecisionsContext {
  results: Pick<DeliveryResults, 'open'>;
  accounts: AccountUsers;
  users: Pick<ChannelUsers, 'find' | 'levelOf'>;
  deliveries: Pick<DeliveryWorkStore, 'initiatorOf'>;
  posts: Pick<PostStore, 'ofApproval'>;
  sessions: Pick<Client<SessionsServiceDefinition>, 'listApprovals' | 'decideApproval'>;
}

type Opened = NonNullable<Awaited<ReturnType<DeliveryResults['open']>>>;

export type Decisions = ReturnType<typeof createDecisions>;

/** Decides approvals for people who click a button. The policy and the level of their user are read at that moment. */
export function createDecisions(context: DecisionsContext) {
  const { results, accounts, users, deliveries, posts, sessions } = context;

  async function clickerOf({ channel, event }: Opened, call: Call): Promise<ChannelUser | undefined> {
    const [userId = ''] = await accounts.of([{ channel, event }], call);
    const user = userId === '' ? undefined : await users.find(userId, call);
    return user?.isEnabled ? user : undefined;
  }

  /** The initiator is the account that sent the message, or another account of the same user. */
  async function isInitiator({ channel, event }: Opened, userId: string, turnId: string, call: Call) {
    const initiator = await deliveries.initiatorOf(channel.deploymentId, turnId, call);
    if (!initiator) return false;
    const isSameAccount = initiator.externalId === event.senderId && initiator.team === event.team;
    return isSameAccount || initiator.userId === userId;
  }

  async function refuseClicker(
    opened: Opened,
    { turnId, sessionOwnerId }: StoredPost,
    clicker: ChannelUser,
    call: Call,
  ): Promise<Reason | undefined> {
    const { agentId, config } = opened.channel;
    const { userId } = clicker.caller;
    const level = await users.levelOf(agentId, clicker, call);
    if (!canUse(level)) return 'no_access';
    const asks = config.approvers.policy === 'initiator';
    const decider = {
      ...{ userId, level, ownerId: sessionOwnerId ?? '' },
      isInitiator: asks && (await isInitiator(opened, userId, turnId, call)),
    };
    return mayApprove(config, decider) ? undefined : 'not_an_approver';
  }

  /** Undefined when the approval is not pending. */
  async function pendingApproval(sessionId: string, approvalId: string, options: Call) {
    for (let cursor = ''; ; ) {
      const request = { sessionId, status: 'pending', page: { ...PAGE, cursor } };
      const { approvals, page } = await sessions.listApprovals(request, options);
      const found = approvals.find((approval) => approval.approvalId === approvalId);
      if (found || !page?.nextCursor) return found;
      cursor = page.nextCursor;
    }
  }

  async function responseTo(
    { status, decision, decidedBy }: Approval,
    userId: string,
    wanted: string,
    call: Call,
  ): Promise<DecideFromChannelResponse> {
    if (status !== 'decided') return refused('expired');
    const decider = await users.find(decidedBy, call);
    const outcome = decidedBy === userId && decision === wanted ? 'decided' : 'already_decided';
    return { outcome, reason: '', decision, decidedBy: decider?.name ?? '' };
  }

  async function decide(
    opened: Opened,
    post: StoredPost,
    userId: string,
    call: Call,
  ): Promise<DecideFromChannelResponse> {
    const { delivery, channel, event } = opened;
    const { approvalId, decision } = event;
    const options = { ...call, caller: await ownerOf(post, call) };
    const sessionId = post.sessionId ?? '';
    const pending = await pendingApproval(sessionId, approvalId, options);
    if (pending && pending.kind !== 'tool') return refused('not_found');
    if (pending && decision === 'allow' && pending.inputJson.length > WHOLE_INPUT_CHARACTERS)
      return refused('input_not_whole');
    const { deploymentId } = channel;
    const { deliveryId } = delivery;
    const decided = await sessions.decideApproval(
      {
        ...{ sessionId, approvalId, decision, reason: '', editedInputJson: '', contentJson: undefined },
        actor: { type: 'channel', deploymentId, runId: '', deliveryId },
        decidedBy: userId,
        via: `${channel.provider}:${event.senderId}`,
      },
      options,
    );
    return decided.approval ? responseTo(decided.approval, userId, decision, call) : refused('not_found');
  }

  /** A disabled owner has no requests, but the approval is decided in their name. */
  async function ownerOf({ sessionOwnerId }: StoredPost, call: Call): Promise<Caller> {
    const userId = sessionOwnerId ?? '';
    return (await users.find(userId, call))?.caller ?? { userId, roles: ['member'] };
  }

  return {
    /** Throws LEASE_LOST. */
    async decide(
      request: { deliveryId: string; fence: number },
      call: Call,
    ): Promise<DecideFromChannelResponse> {
      const opened = await results.open(request, call);
      if (!opened) throw deliveryLost();
      const { delivery, event } = opened;
      if (delivery.kind !== 'action' || !DECISIONS.includes(event.decision)) return refused('not_found');
      const clicker = await clickerOf(opened, call);
      if (!clicker) return refused('not_linked');
      const post = await posts.ofApproval(delivery, event.approvalId, call);
      if (!post?.sessionId) return refused('not_found');
      const refusal = await refuseClicker(opened, post, clicker, call);
      if (refusal) return refused(refusal);
      try {
        return await decide(opened, post, clicker.caller.userId, call);
      } catch (error) {
        const reason = error instanceof Refusal ? REASONS[error.code] : undefined;
        if (!reason) throw error;
        return refused(reason);
      }
    },
  };
}

const DECISIONS: readonly string[] = ['allow', 'deny'];

const REASONS: Partial<Record<string, Reason>> = {
  APPROVAL_NOT_FOUND: 'not_found',
  SESSION_NOT_FOUND: 'not_found',
  SESSION_TERMINATED: 'expired',
  SESSION_ARCHIVED: 'expired',
  APPROVAL_ALREADY_DECIDED: 'expired',
};

function refused(reason: Reason): DecideFromChannelResponse {
  return { outcome: 'refused', reason, decision: '', decidedBy: '' };
}
