import { createBatcher } from '../../../lib/db/batcher.ts';
import type { Database, DatabaseSession, WriteOptions } from '../../../lib/db/database.ts';
import { NEW_POST, type PostReport, reportPost, resendPost } from '../domain/channels/post-state.ts';
import {
  engage,
  type LockedConversation,
  lockConversation,
  lockUnlockedConversations,
  retellSession,
  type ShownAnswer,
  setShown,
} from './conversations.ts';
import { findNoted, numberChanges, putPosts } from './noted-posts.ts';
import type { PostIdentity, PostWithContent, StoredPost } from './post-rows.ts';

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

/** The reports of one worker about one conversation. */
interface PostNotes {
  deploymentId: string;
  conversation: string;
  fence: number;
  notes: readonly NotedPost[];
  /** The size of the notes. */
  bytes: number;
  now: Date;
  /** Returns the id of a new post. */
  newId: () => string;
}

/** `lost`: another worker holds the conversation. `unknown`: there is no such notice. */
type NotesOutcome = 'lost' | 'unknown' | WrittenNotes;

interface WrittenNotes {
  /** In the order of the notes. */
  posts: StoredPost[];
  /** Whether a content is new. */
  hasChanges: boolean;
  /** Of the conversation: JSON object {place, thread, is_group}. */
  place: string;
}

interface ResentPost {
  post: StoredPost;
  /** The post belongs to a session that the conversation has left, so its content is not known any more. */
  isGone: boolean;
}

export type PostNoteStore = ReturnType<typeof createPostNoteStore>;

const BATCH = { maxItems: 64, maxBytes: 8 * 1024 * 1024 };

export function createPostNoteStore(db: Database) {
  const batched = createBatcher<PostNotes, NotesOutcome | undefined>({
    name: 'posts.notes',
    observer: db.observer,
    run: (items, options) => db.transaction((tx) => noteUnlocked(tx, items), options),
    sizeOf: ({ bytes }) => bytes,
    keyOf: conversationKey,
    ownerOf: ({ deploymentId }) => deploymentId,
    ...BATCH,
  });

  return {
    /**
     * Stores the reports. Repeating them changes nothing. Concurrent calls share a transaction, which skips conversations that
     * another transaction has locked. Those get a transaction of their own, which waits for the lock.
     */
    async note(notes: PostNotes, { trace }: WriteOptions = {}): Promise<NotesOutcome> {
      const outcome = await batched.submit(notes, { trace });
      return outcome ?? (await db.transaction((tx) => noteLocked(tx, notes), { trace }));
    },

    /** Makes a failed or dead post wanted again, and engages its conversation. */
    resend: (post: StoredPost, now: Date, { trace }: WriteOptions = {}): Promise<ResentPost | undefined> =>
      db.transaction(
        async (tx) => {
          const conversation = await lockConversation(tx, post.deploymentId, post.conversation);
          if (!conversation) return undefined;
          const reference = { ...conversation, ...NO_IDENTITY, postId: post.postId };
          const [current] = await findNoted(tx, [reference]);
          if (!current) return undefined;
          const resent = { ...current, ...resendPost(current) };
          if (resent.state === current.state) return { post: current, isGone: false };
          const isNotice = current.sessionId === null;
          if (!isNotice && current.sessionId !== conversation.sessionId)
            return { post: current, isGone: true };
          const written = { ...resent, updatedAt: now };
          await putPosts(tx, [written]);
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

/** Undefined for conversations that another transaction has locked, and for those that do not exist. */
async function noteUnlocked(
  tx: DatabaseSession,
  items: readonly PostNotes[],
): Promise<(NotesOutcome | undefined)[]> {
  const locked = await lockUnlockedConversations(tx, items);
  const byKey = new Map(locked.map((conversation) => [conversationKey(conversation), conversation]));
  return noteAll(tx, items, byKey);
}

async function noteLocked(tx: DatabaseSession, notes: PostNotes): Promise<NotesOutcome> {
  const conversation = await lockConversation(tx, notes.deploymentId, notes.conversation);
  if (!conversation) return 'lost';
  const [outcome = 'lost'] = await noteAll(tx, [notes], new Map([[conversationKey(notes), conversation]]));
  return outcome;
}

/** Stores the reports about different conversations. Undefined for those that are not locked. */
async function noteAll(
  tx: DatabaseSession,
  items: readonly PostNotes[],
  locked: ReadonlyMap<string, LockedConversation>,
): Promise<(NotesOutcome | undefined)[]> {
  const conversationOf = (item: PostNotes | undefined) => item && locked.get(conversationKey(item));
  const isHeld = (item: PostNotes) => {
    const conversation = conversationOf(item);
    return conversation?.fence === item.fence && conversation.holder !== null;
  };
  const held = items.filter(isHeld);
  const stored = held.length === 0 ? [] : await findNoted(tx, held.flatMap(referencesOf));
  const byConversation = Map.groupBy(stored, conversationKey);
  const outcomes = items.map((item): PostChange[] | 'lost' | 'unknown' | undefined => {
    const conversation = conversationOf(item);
    if (!conversation) return undefined;
    if (!isHeld(item)) return 'lost';
    return changesOf(conversation, byConversation.get(conversationKey(item)) ?? [], item) ?? 'unknown';
  });
  const changes = outcomes.flatMap((outcome) => (Array.isArray(outcome) ? outcome : []));
  const written = await writePosts(tx, changes);
  const shown = items.filter((_, index) => Array.isArray(outcomes[index])).flatMap(answerOf);
  if (shown.length > 0) await setShown(tx, shown);
  return outcomes.map((outcome, index) => {
    if (!Array.isArray(outcome)) return outcome;
    const posts = outcome.map((change) => written.get(change) ?? change.post);
    const hasChanges = outcome.some(({ isNewContent }) => isNewContent);
    const place = conversationOf(items[index])?.place;
    return place === undefined ? undefined : { posts, hasChanges, place };
  });
}

const conversationKey = ({ deploymentId, conversation }: Pick<PostNotes, 'deploymentId' | 'conversation'>) =>
  `${deploymentId} ${conversation}`;

function referencesOf({ deploymentId, conversation, notes }: PostNotes) {
  return notes.map(({ postId, turnId, kind, part, key }) => ({
    ...{ deploymentId, conversation, postId, turnId, kind, part, key },
  }));
}

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

/** Returns the stored post of each change. A post with several changes is written once. */
async function writePosts(
  tx: DatabaseSession,
  changes: readonly PostChange[],
): Promise<Map<PostChange, PostWithContent>> {
  const numbers = await changeNumbers(tx, changes);
  const written = new Map<PostChange, PostWithContent>();
  const newest = new Map<string, PostWithContent>();
  for (const change of changes) {
    const { post, encodeContent, isNewContent } = change;
    const { content, change: number } = newest.get(post.postId) ?? post;
    const stored = isNewContent
      ? { ...post, content: encodeContent?.(post) ?? null, change: numbers.next(post.deploymentId) }
      : { ...post, content, change: number };
    written.set(change, stored);
    newest.set(post.postId, stored);
  }
  if (newest.size > 0) await putPosts(tx, [...newest.values()]);
  return written;
}

/** Numbers the new contents of each channel in their order. */
async function changeNumbers(tx: DatabaseSession, changes: readonly PostChange[]) {
  const counts = new Map<string, number>();
  for (const { post, isNewContent } of changes)
    if (isNewContent) counts.set(post.deploymentId, (counts.get(post.deploymentId) ?? 0) + 1);
  const numbers = new Map<string, number>();
  // In the order of the ids, so that two transactions never wait for each other's channels.
  for (const deploymentId of [...counts.keys()].sort())
    numbers.set(deploymentId, await numberChanges(tx, deploymentId, counts.get(deploymentId) ?? 0));
  return {
    next(deploymentId: string): number {
      const number = numbers.get(deploymentId) ?? 0;
      numbers.set(deploymentId, number + 1);
      return number;
    },
  };
}

/** The product's newest answer in the conversation; none for posts that were not sent yet. */
function answerOf({ deploymentId, conversation, notes, now }: PostNotes): ShownAnswer[] {
  const answers = notes.filter(({ report }) => report.state !== 'posting' || report.error !== '');
  if (answers.length === 0) return [];
  const isPosted = answers.some(({ report }) => report.state === 'posted');
  const error = answers.at(-1)?.report.error || null;
  return [{ deploymentId, conversation, postedAt: isPosted ? now : null, error }];
}

const identityOf = ({ turnId, kind, part, key }: PostIdentity) => JSON.stringify([turnId, kind, part, key]);
