import type { Database, DatabaseSession, WriteOptions } from '../../../lib/db/database.ts';
import { NEW_POST, type PostReport, reportPost, resendPost } from '../domain/channels/post-state.ts';
import {
  engage,
  type LockedConversation,
  lockConversation,
  retellSession,
  setShown,
} from './conversations.ts';
import type { PostIdentity, PostWithContent, StoredPost } from './post-rows.ts';
import { findNoted, numberChanges, putPost } from './posts.ts';

/** A report about a post. A notice is identified by its id, every other post by turn, kind, part and key. */
export interface NotedPost extends PostIdentity {
  postId: string;
  report: PostReport;
  /** Only for http: encodes the content of a posted post. */
  encodeContent: ((members: ContentMembers) => Uint8Array) | undefined;
}

/** The members of the content that the stored post decides. */
export type ContentMembers = Pick<
  StoredPost,
  'postId' | 'revision' | 'conversation' | 'kind' | 'turnId' | 'sessionId'
>;

interface PostNotes {
  deploymentId: string;
  conversation: string;
  fence: number;
  notes: readonly NotedPost[];
  now: Date;
  /** Returns the id of a new post. */
  newId: () => string;
}

/** `lost`: another worker holds the conversation. `unknown`: there is no such notice. */
type NotesOutcome = 'lost' | 'unknown' | { posts: StoredPost[]; hasChanges: boolean };

interface ResentPost {
  post: StoredPost;
  /** The post belongs to a session that the conversation has left, so its content is not known any more. */
  isGone: boolean;
}

export type PostNoteStore = ReturnType<typeof createPostNoteStore>;

export function createPostNoteStore(db: Database) {
  return {
    /** Stores the reports in one transaction. Repeating them changes nothing. */
    note: (notes: PostNotes, { trace }: WriteOptions = {}): Promise<NotesOutcome> =>
      db.transaction(
        async (tx) => {
          const { deploymentId, conversation: name, fence } = notes;
          const conversation = await lockConversation(tx, deploymentId, name);
          if (conversation?.fence !== fence || conversation.holder === null) return 'lost';
          const stored = await findNoted(tx, conversation, notes.notes);
          const changes = changesOf(conversation, stored, notes);
          if (changes === undefined) return 'unknown';
          const posts = await writePosts(tx, deploymentId, changes);
          await noteShown(tx, conversation, notes);
          return { posts, hasChanges: changes.some(({ isNewContent }) => isNewContent) };
        },
        { trace },
      ),

    /** Makes a failed or dead post wanted again, and engages its conversation. */
    resend: (post: StoredPost, now: Date, { trace }: WriteOptions = {}): Promise<ResentPost | undefined> =>
      db.transaction(
        async (tx) => {
          const conversation = await lockConversation(tx, post.deploymentId, post.conversation);
          if (!conversation) return undefined;
          const identity = { ...NO_IDENTITY, postId: post.postId };
          const [current] = await findNoted(tx, conversation, [identity]);
          if (!current) return undefined;
          const resent = { ...current, ...resendPost(current) };
          if (resent.state === current.state) return { post: current, isGone: false };
          const isNotice = current.sessionId === null;
          if (!isNotice && current.sessionId !== conversation.sessionId)
            return { post: current, isGone: true };
          const written = { ...resent, updatedAt: now };
          await putPost(tx, written);
          if (isNotice) await engage(tx, conversation, now, true);
          else await retellSession(tx, conversation, now);
          return { post: written, isGone: false };
        },
        { trace },
      ),
  };
}

/** Matches no stored post. */
const NO_IDENTITY = { turnId: '', kind: '', part: 0, key: '' };

interface PostChange {
  post: PostWithContent;
  encodeContent: NotedPost['encodeContent'];
  isNewContent: boolean;
}

/** Returns the posts after the reports; undefined when one names an unknown id. */
function changesOf(
  conversation: LockedConversation,
  stored: readonly PostWithContent[],
  { notes, now, newId }: PostNotes,
): PostChange[] | undefined {
  const byId = new Map(stored.map((post) => [post.postId, post]));
  const byIdentity = new Map(stored.map((post) => [identityOf(post), post]));
  const changes: PostChange[] = [];
  for (const note of notes) {
    const current = note.postId === '' ? byIdentity.get(identityOf(note)) : byId.get(note.postId);
    if (!current && note.postId !== '') return undefined;
    const change = changeOf(current ?? newPost(conversation, note, newId(), now), note, now);
    // A later report about the same post continues from this one.
    byId.set(change.post.postId, change.post);
    byIdentity.set(identityOf(change.post), change.post);
    changes.push(change);
  }
  return changes;
}

function changeOf(current: PostWithContent, { report, encodeContent }: NotedPost, now: Date): PostChange {
  const post = { ...current, ...reportPost(current, report, now), updatedAt: now };
  const isPosted = post.state === 'posted';
  const isNewContent =
    isPosted &&
    encodeContent !== undefined &&
    (current.change === null || current.shownSha256 !== post.shownSha256);
  // The text of a notice can have a link code.
  return { post: isPosted ? { ...post, text: null } : post, encodeContent, isNewContent };
}

function newPost(
  { deploymentId, conversation, sessionId, sessionOwnerId }: LockedConversation,
  { turnId, kind, part, key }: NotedPost,
  postId: string,
  now: Date,
): PostWithContent {
  return {
    ...NEW_POST,
    ...{ postId, deploymentId, conversation, sessionId, sessionOwnerId, turnId, kind, part, key },
    ...{ text: null, privateTo: null, content: null, change: null, createdAt: now, updatedAt: now },
  };
}

async function writePosts(
  tx: DatabaseSession,
  deploymentId: string,
  changes: readonly PostChange[],
): Promise<PostWithContent[]> {
  const count = changes.filter(({ isNewContent }) => isNewContent).length;
  let number = count > 0 ? await numberChanges(tx, deploymentId, count) : 0;
  const posts: PostWithContent[] = [];
  for (const { post, encodeContent, isNewContent } of changes) {
    const written = isNewContent
      ? { ...post, change: number++, content: encodeContent?.(post) ?? null }
      : post;
    await putPost(tx, written);
    posts.push(written);
  }
  return posts;
}

async function noteShown(
  tx: DatabaseSession,
  conversation: LockedConversation,
  { notes, now }: PostNotes,
): Promise<void> {
  const answers = notes.filter(({ report }) => report.state !== 'posting' || report.error !== '');
  if (answers.length === 0) return;
  const isPosted = answers.some(({ report }) => report.state === 'posted');
  const error = answers.findLast(({ report }) => report.error !== '')?.report.error ?? null;
  await setShown(tx, conversation, isPosted ? now : null, error);
}

const identityOf = ({ turnId, kind, part, key }: PostIdentity) => JSON.stringify([turnId, kind, part, key]);
