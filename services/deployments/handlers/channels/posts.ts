import { refuse } from '../../../../lib/errors.ts';
import { callerOf } from '../../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../../lib/grpc/contract.ts';
import { isId } from '../../../../lib/ids.ts';
import type { DeploymentsServiceDefinition } from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { postState } from '../../channels/conversation-messages.ts';
import { checkedPage } from '../../domain/deployments.ts';
import type { DeploymentsHandlerContext } from '../context.ts';
import { postMessage } from './post-messages.ts';

type Methods = Pick<
  Handlers<DeploymentsServiceDefinition>,
  'notePosts' | 'listPosts' | 'resendPost' | 'pullPosts' | 'listConversations'
>;

/** Conversations and their posts. */
export function postHandlers(context: DeploymentsHandlerContext): Methods {
  const { access, conversations, posts, postNotes, noteStore, pulls, clock, wakeWork } = context;

  return {
    async notePosts(request, call) {
      const noted = await postNotes.note(request, call);
      return { posts: noted.map(({ post, replyTo }) => postState(post, replyTo)) };
    },

    async listPosts({ page, state, conversation, ...reference }, call) {
      const { limit, cursor } = checkedPage(page);
      const { deployment, options } = await access.viewChannel(reference, call);
      const { userId: caller } = callerOf(call);
      const filter = { caller, deploymentId: deployment.deploymentId, state, conversation };
      const { rows, nextCursor } = await posts.list({ ...filter, limit, cursor }, options);
      return { posts: rows.map(postMessage), page: { nextCursor } };
    },

    async resendPost({ postId, ...reference }, call) {
      const { deployment, options } = await access.findChannel(reference, call);
      const { deploymentId, status } = deployment;
      const post = isId('pst', postId) ? await posts.find(deploymentId, postId, options) : undefined;
      if (!post) throw postNotFound();
      if (status === 'disabled')
        throw refuse('CHANNEL_NOT_CONNECTED', 'The channel is disabled. Enable it first.');
      const resent = await noteStore.resend(post, clock.now(), { trace: call.trace });
      if (!resent) throw postNotFound();
      if (resent.isGone)
        throw refuse(
          'POST_NOT_FOUND',
          'The post belongs to a session that its conversation has left. It cannot be sent again.',
        );
      wakeWork(deploymentId);
      return { post: postMessage(resent.post) };
    },

    pullPosts: (request, call) => pulls.pull(request, call),

    async listConversations({ page, ...reference }, call) {
      const { limit, cursor } = checkedPage(page);
      const { deployment, options } = await access.viewChannel(reference, call);
      const { userId: caller } = callerOf(call);
      const { deploymentId } = deployment;
      const found = await conversations.list({ caller, deploymentId, limit, cursor }, options);
      return {
        conversations: found.rows.map((row) => ({
          ...row,
          title: row.title ?? '',
          sessionId: row.sessionId ?? '',
          lastOutAt: row.lastOutAt ?? undefined,
          reason: row.reason ?? '',
        })),
        page: { nextCursor: found.nextCursor },
      };
    },
  };
}

function postNotFound() {
  return refuse('POST_NOT_FOUND', 'The channel has no such post.');
}
