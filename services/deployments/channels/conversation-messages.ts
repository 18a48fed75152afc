import type {
  ConversationPlace,
  ConversationWork,
  PostState,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ClaimedConversation } from '../store/conversation-work.ts';
import type { StoredPost } from '../store/post-rows.ts';
import type { ReplyTarget } from './reply-targets.ts';

/** The stored form of a place. */
interface StoredPlace {
  place: string;
  thread: string;
  is_group: boolean;
}

export function placeText({ place, thread, isGroup }: ConversationPlace): string {
  return JSON.stringify({ place, thread, is_group: isGroup } satisfies StoredPlace);
}

export function placeOf(text: string): ConversationPlace {
  const { place, thread, is_group }: StoredPlace = JSON.parse(text);
  return { place, thread, isGroup: is_group };
}

export function postState(post: StoredPost, replyTo?: ReplyTarget): PostState {
  return {
    postId: post.postId,
    turnId: post.turnId,
    kind: post.kind,
    part: post.part,
    key: post.key,
    state: post.state,
    externalId: post.externalId ?? '',
    shownSha256: post.shownSha256 ?? '',
    revision: post.revision,
    attempts: post.attempts,
    nextAt: post.nextAt ?? undefined,
    text: post.text ?? '',
    privateTo: post.privateTo ?? '',
    replyTo: replyTo?.messageId ?? '',
    replyToPlace: replyTo?.place ?? '',
  };
}

/** The work of claimed conversations with their posts. */
export function conversationWork(
  claimed: readonly ClaimedConversation[],
  posts: readonly StoredPost[],
): ConversationWork[] {
  const keyOf = ({ deploymentId, conversation }: { deploymentId: string; conversation: string }) =>
    `${deploymentId} ${conversation}`;
  const byConversation = Map.groupBy(posts, keyOf);
  return claimed.map((one) => ({
    deploymentId: one.deploymentId,
    conversation: one.conversation,
    fence: one.fence,
    sessionId: one.sessionId ?? '',
    ownerId: one.sessionOwnerId ?? '',
    toldSeq: one.toldSeq,
    place: placeOf(one.place),
    posts: (byConversation.get(keyOf(one)) ?? []).map((post) => postState(post)),
  }));
}
