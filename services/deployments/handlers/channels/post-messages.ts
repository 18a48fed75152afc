import type { Post } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { StoredPost } from '../../store/post-rows.ts';

export function postMessage(post: StoredPost): Post {
  return {
    postId: post.postId,
    conversation: post.conversation,
    turnId: post.turnId,
    kind: post.kind,
    part: post.part,
    state: post.state,
    revision: post.revision,
    externalId: post.externalId ?? '',
    maybeDuplicate: post.maybeDuplicate,
    attempts: post.attempts,
    nextAt: post.nextAt ?? undefined,
    error: post.error ?? '',
    createdAt: post.createdAt,
    updatedAt: post.updatedAt,
  };
}
