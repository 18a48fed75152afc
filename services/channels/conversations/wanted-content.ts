import { sha256 } from '../../../lib/digest.ts';
import type { PostState } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { identityOf, type WantedPost } from '../rendering/wanted-post.ts';

/** A wanted post with the digest of its content. */
export interface WantedContent {
  identity: string;
  post: WantedPost;
  /** Lowercase hexadecimal SHA-256 of the content that the product shows. */
  digest: string;
  /** Only of stored notices. */
  postId: string;
  /** Only of stored notices for one person. */
  privateTo: string | undefined;
}

/** The digest of a post that was deleted at the product. */
export const DELETED = sha256('');

/** `tracksFinal`: the product shows whether a post is final, so that the last content is new even if its text is not. */
export function wantedContent(post: WantedPost, tracksFinal: boolean): WantedContent {
  const shown = [
    post.kind === 'file' ? post.key : post.markdown,
    post.kind === 'approval' ? post.approval : null,
    tracksFinal && post.isFinal,
  ];
  return {
    identity: identityOf(post),
    post,
    digest: sha256(JSON.stringify(shown)),
    postId: '',
    privateTo: undefined,
  };
}

/** Returns a notice that deployments has stored. */
export function storedNotice(
  { postId, key, text, privateTo }: PostState,
  disarm: (markdown: string) => string,
): WantedContent {
  const post: WantedPost = {
    ...{ turnId: '', kind: 'notice', part: 0, key, isFinal: true },
    markdown: disarm(text),
  };
  return {
    identity: postId,
    post,
    digest: sha256(JSON.stringify([post.markdown, null, true])),
    postId,
    privateTo: privateTo === '' ? undefined : privateTo,
  };
}
