import type { PostState } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { RepliedMessage } from '../products/product.ts';
import { identityOf } from '../rendering/wanted-post.ts';
import { DELETED, type WantedContent } from './wanted-content.ts';

/** The state of a post at the product, as this worker knows it. */
export interface ShownPost {
  postId: string;
  turnId: string;
  kind: string;
  part: number;
  key: string;
  /** wanted | posting | posted | failed | dead */
  state: string;
  /** As stored before the last create. A deletion increments it. */
  revision: number;
  /** Empty: the product has no such post. */
  externalId: string;
  /** Empty: none. */
  digest: string;
  attempts: number;
  /** Milliseconds since the epoch: no attempt before. */
  nextAt: number;
  /** Milliseconds since the epoch of the last create or edit by this worker. */
  changedAt: number;
  /** The content that the product refused for ever. Undefined: not known, so the next content counts as that one. */
  refusedDigest: string | undefined;
  /** The content of the last preview. Empty: none. */
  previewDigest: string;
  /** The message that began the turn. Undefined: none, or not known yet. */
  replyTo: RepliedMessage | undefined;
}

/** The posts of a conversation by identity; stored notices by their id. */
export class ShownPosts {
  readonly #posts = new Map<string, ShownPost>();

  get(identity: string): ShownPost | undefined {
    return this.#posts.get(identity);
  }

  [Symbol.iterator](): MapIterator<[string, ShownPost]> {
    return this.#posts[Symbol.iterator]();
  }

  /** Returns the post, which is new if it was not known. */
  ensure({ identity, postId, post }: WantedContent): ShownPost {
    const known = this.#posts.get(identity);
    if (known) return known;
    const { turnId, kind, part, key } = post;
    const created: ShownPost = {
      ...{ postId, turnId, kind, part, key, state: 'wanted', revision: 1 },
      ...{ externalId: '', digest: '', attempts: 0 },
      ...{ nextAt: 0, changedAt: 0, refusedDigest: undefined, previewDigest: '', replyTo: undefined },
    };
    this.#posts.set(identity, created);
    return created;
  }

  /** Takes over a state that deployments has stored. */
  store(state: PostState): ShownPost {
    const { postId, turnId, kind, part, key, revision, attempts } = state;
    const isNotice = kind === 'notice' && turnId === '';
    const identity = isNotice ? postId : identityOf(state);
    const known = this.#posts.get(identity);
    const isDeleted = state.shownSha256 === DELETED;
    const stored: ShownPost = {
      ...{ postId, turnId, kind, part, key, state: state.state, revision, attempts },
      externalId: isDeleted ? '' : state.externalId,
      digest: isDeleted ? '' : state.shownSha256,
      nextAt: state.nextAt?.getTime() ?? 0,
      changedAt: known?.changedAt ?? 0,
      refusedDigest: known?.refusedDigest,
      previewDigest: known?.previewDigest ?? '',
      replyTo: repliedMessage(state) ?? known?.replyTo,
    };
    this.#posts.set(identity, stored);
    return stored;
  }
}

function repliedMessage({ replyTo: messageId, replyToPlace: place }: PostState): RepliedMessage | undefined {
  return messageId === '' ? undefined : { messageId, place };
}

/** Whether the product shows the content, or will never show it. */
export function isSettled(shown: ShownPost | undefined, { digest, post, privateTo }: WantedContent): boolean {
  if (!shown) return false;
  if (shown.state === 'failed' || shown.state === 'dead') {
    shown.refusedDigest ??= digest;
    return shown.refusedDigest === digest;
  }
  if (shown.state !== 'posted') return false;
  // Files and private notices are sent once.
  if (post.kind === 'file' || privateTo !== undefined) return true;
  return shown.digest === digest;
}
