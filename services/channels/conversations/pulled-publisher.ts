import type { Clock } from '../../../lib/clock.ts';
import { mediaTypeOf } from '../../../lib/media-type.ts';
import { baseNameOf } from '../../../lib/paths.ts';
import type { PulledPost } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { WantedPost } from '../rendering/wanted-post.ts';
import { noteOf, type PostNotes } from './post-notes.ts';
import type { Publisher } from './publisher.ts';
import { isSettled, type ShownPost, type ShownPosts } from './shown-posts.ts';
import { DELETED, type WantedContent } from './wanted-content.ts';

interface PulledPublisherOptions {
  clock: Clock;
  shown: ShownPosts;
  notes: PostNotes;
  conversation: string;
  sessionId: string;
  /** The shortest time between two revisions of a growing post, in milliseconds. */
  paceMs: number;
}

/** Stores the content of posts, which the product pulls. */
export function createPulledPublisher(options: PulledPublisherOptions): Publisher {
  const { clock, shown, notes, paceMs } = options;

  /** The final content is stored at once. */
  function delayOf({ identity, post }: WantedContent, now: number): number {
    const known = shown.get(identity);
    return post.isFinal || !known ? 0 : Math.max(0, known.changedAt + paceMs - now);
  }

  return {
    async step(wanted, signal) {
      const now = clock.now().getTime();
      const changed = wanted.filter((content) => !isSettled(shown.get(content.identity), content));
      const due = changed.filter((content) => delayOf(content, now) === 0);
      const removed = removedPosts(shown, wanted);
      if (due.length + removed.length > 0) {
        const written = [
          ...due.map((content) => {
            const content_ = pulledPost(content.post, options);
            return noteOf(shown.ensure(content), {
              state: 'posted',
              shownSha256: content.digest,
              content: content_,
            });
          }),
          ...removed.map((post) => {
            const content = removedContent(post, options);
            return noteOf(post, { state: 'posted', shownSha256: DELETED, content });
          }),
        ];
        const states = await notes.write(written, signal);
        for (const [index, { identity, digest }] of due.entries()) {
          const post = shown.get(identity);
          const postId = states[index]?.postId ?? '';
          if (post) Object.assign(post, { state: 'posted', digest, changedAt: now, postId });
        }
        for (const post of removed) post.digest = '';
        return 0;
      }
      if (changed.length === 0) return undefined;
      return Math.min(...changed.map((content) => delayOf(content, now)));
    },

    flush: async () => {},

    openTurns: (wanted) =>
      new Set(
        wanted
          .filter((content) => !isSettled(shown.get(content.identity), content))
          .map(({ post }) => post.turnId),
      ),
  };
}

/** Parts of answers that became shorter, because an attempt was discarded. */
export function removedPosts(shown: ShownPosts, wanted: readonly WantedContent[]): ShownPost[] {
  const kept = new Set(wanted.map(({ identity }) => identity));
  const turns = new Set(wanted.map(({ post }) => post.turnId));
  const removed = [];
  for (const [identity, post] of shown) {
    const isShown = post.state === 'posted' && (post.externalId !== '' || post.digest !== '');
    if (post.kind === 'message' && turns.has(post.turnId) && isShown && !kept.has(identity))
      removed.push(post);
  }
  return removed;
}

function pulledPost(
  post: WantedPost,
  { conversation, sessionId }: Pick<PulledPublisherOptions, 'conversation' | 'sessionId'>,
): PulledPost {
  return {
    ...{ postId: '', revision: 0, conversation, sessionId },
    kind: post.kind,
    turnId: post.turnId,
    text: post.kind === 'file' ? '' : post.markdown,
    final: post.isFinal,
    approval: post.kind === 'approval' ? post.approval : undefined,
    file:
      post.kind === 'file'
        ? {
            path: post.file.path,
            name: baseNameOf(post.file.path),
            size: post.file.size,
            mediaType: mediaTypeOf(post.file.path),
            sha256: post.file.sha256,
          }
        : undefined,
  };
}

function removedContent(
  { kind, turnId }: ShownPost,
  { conversation, sessionId }: Pick<PulledPublisherOptions, 'conversation' | 'sessionId'>,
): PulledPost {
  return {
    ...{ postId: '', revision: 0, conversation, sessionId, kind, turnId, text: '', final: true },
    approval: undefined,
    file: undefined,
  };
}
