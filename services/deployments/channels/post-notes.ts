import type { Clock } from '../../../lib/clock.ts';
import { refuse, refuseField } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { type Ids, isId } from '../../../lib/ids.ts';
import type { NotePostsRequest, PostNote } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { PulledPost } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { checkNotedState, checkPostKind } from '../domain/channels/post-state.ts';
import type { MovedPlacesStore } from '../store/moved-places.ts';
import type { ContentMembers, NotedPost, PostNoteStore } from '../store/post-notes.ts';
import type { StoredPost } from '../store/post-rows.ts';
import type { ChannelReader } from './channel-reader.ts';
import { placeOf, placeText } from './conversation-messages.ts';
import type { PostCounter } from './metrics.ts';
import type { MovePlaces } from './place-moves.ts';
import type { ReplyTarget, ReplyTargets } from './reply-targets.ts';

const MAX_NOTES = 100;
const MAX_ERROR_CHARACTERS = 500;
/** A note without its text. */
const NOTE_BYTES = 1_000;

interface PostNotesContext {
  store: Pick<PostNoteStore, 'note'>;
  channels: Pick<ChannelReader, 'find'>;
  replyTargets: ReplyTargets;
  movePlaces: MovePlaces;
  leaveThread: MovedPlacesStore['leaveThread'];
  /** Wakes the pulls of a channel. */
  wakePulls: (deploymentId: string) => void;
  /** Counts a post that got a state. */
  count: PostCounter;
  clock: Clock;
  ids: Ids;
}

/** A post with the message to which it replies. */
interface NotedState {
  post: StoredPost;
  replyTo: ReplyTarget | undefined;
}

export type PostNotes = ReturnType<typeof createPostNotes>;

/** Stores what products have of the posts of conversations. */
export function createPostNotes(context: PostNotesContext) {
  const { store, channels, replyTargets, movePlaces, leaveThread, wakePulls, count, clock, ids } = context;
  return {
    /** Returns the posts in the order of the notes. Throws LEASE_LOST and POST_NOT_FOUND. */
    async note(request: NotePostsRequest, call: Call): Promise<NotedState[]> {
      const { deploymentId, conversation, fence, posts, movedTo, movedReason } = request;
      if (posts.length > MAX_NOTES) throw refuseField('/posts', `has more than ${MAX_NOTES} items`);
      if (posts.length === 0) return [];
      const notes = posts.map(notedPost);
      const newId = () => ids('pst');
      const lease = { deploymentId, conversation, fence };
      const bytes = posts.reduce((sum, post) => sum + NOTE_BYTES + (post.content?.text.length ?? 0), 0);
      const report = { ...lease, notes, bytes, now: clock.now(), newId };
      const outcome = await store.note(report, { trace: call.trace });
      if (outcome === 'lost')
        throw refuse(
          'LEASE_LOST',
          'Another channel worker holds the conversation, or its channel was deleted.',
        );
      if (outcome === 'unknown') throw refuse('POST_NOT_FOUND', 'The conversation has no such notice.');
      const place = placeOf(outcome.place);
      if (movedTo && movedReason === '')
        await movePlaces(deploymentId, [{ from: place.place, to: movedTo.place }], call);
      else if (movedTo)
        await leaveThread(lease, placeText(movedTo), movedReason.slice(0, MAX_ERROR_CHARACTERS), call);
      const channel = await channels.find(deploymentId, call);
      if (channel) for (const { state } of outcome.posts) count(channel.provider, state);
      if (outcome.hasChanges) wakePulls(deploymentId);
      const targets = channel && place.isGroup ? await replyTargets(channel, outcome.posts, call) : undefined;
      return outcome.posts.map((post) => ({ post, replyTo: targets?.get(post.postId) }));
    },
  };
}

function notedPost(note: PostNote): NotedPost {
  const { postId, turnId, kind, part, key, externalId, shownSha256, maybeDuplicate, content } = note;
  if (postId !== '' && !isId('pst', postId))
    throw refuse('POST_NOT_FOUND', 'The conversation has no such post.');
  const state = checkNotedState(note.state);
  const error = note.error.slice(0, MAX_ERROR_CHARACTERS);
  return {
    ...{ postId, turnId, part, key },
    encodeContent: content && contentEncoder(content),
    kind: postId === '' ? checkPostKind(kind) : kind,
    report: { state, externalId, shownSha256, maybeDuplicate, error, nextAt: note.nextAt },
  };
}

function contentEncoder(content: PulledPost): NotedPost['encodeContent'] {
  return ({ postId, revision, conversation, kind, turnId, sessionId }: ContentMembers) => {
    const members = { postId, revision, conversation, kind, turnId, sessionId: sessionId ?? '' };
    return PulledPost.encode({ ...content, ...members }).finish();
  };
}
