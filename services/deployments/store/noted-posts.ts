import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import { POST_COLUMNS, type PostIdentity, type PostWithContent } from './post-rows.ts';

/** The post that a note is about: by its id, or without one by turn, kind, part and key. */
export interface NotedReference extends PostIdentity {
  deploymentId: string;
  conversation: string;
  /** Empty: not known. */
  postId: string;
}

const FIND = statement(
  'posts.noted',
  `select ${POST_COLUMNS}, p.content, p.change
   from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[])
     as g (deployment_id, conversation, post_id, turn_id, kind, part, key)
   join posts p on p.deployment_id = g.deployment_id and p.conversation = g.conversation
     and p.post_id = case when g.post_id <> '' then g.post_id else (
       select i.post_id from posts i
       where i.deployment_id = g.deployment_id and i.conversation = g.conversation and i.turn_id = g.turn_id
         and i.kind = g.kind and i.part = g.part and i.key = g.key) end`,
);

const PUT = statement(
  'posts.put',
  `insert into posts (post_id, deployment_id, conversation, owner_id, session_id, session_owner_id, turn_id, kind, part,
     key, state, revision, external_id, shown_sha256, maybe_duplicate, attempts, trying_since, next_at, error, text,
     content, change, created_at, updated_at)
   select g.post_id, g.deployment_id, g.conversation, c.owner_id, g.session_id, g.session_owner_id, g.turn_id, g.kind,
     g.part, g.key, g.state, g.revision, g.external_id, g.shown_sha256, g.maybe_duplicate, g.attempts, g.trying_since,
     g.next_at, g.error, g.text, g.content, g.change, g.created_at, g.updated_at
   from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::integer[],
       $9::text[], $10::text[], $11::bigint[], $12::text[], $13::text[], $14::boolean[], $15::integer[],
       $16::timestamptz[], $17::timestamptz[], $18::text[], $19::text[], $20::bytea[], $21::bigint[],
       $22::timestamptz[], $23::timestamptz[])
     as g (post_id, deployment_id, conversation, session_id, session_owner_id, turn_id, kind, part, key, state, revision,
       external_id, shown_sha256, maybe_duplicate, attempts, trying_since, next_at, error, text, content, change,
       created_at, updated_at)
   join channels c on c.deployment_id = g.deployment_id
   on conflict (post_id) do update set state = excluded.state, revision = excluded.revision,
     external_id = excluded.external_id, shown_sha256 = excluded.shown_sha256,
     maybe_duplicate = excluded.maybe_duplicate, attempts = excluded.attempts, trying_since = excluded.trying_since,
     next_at = excluded.next_at, error = excluded.error, text = excluded.text, content = excluded.content,
     change = excluded.change, updated_at = excluded.updated_at`,
);

/** The lock of the channel's row makes the order of commits that of the numbers, so that a pull misses no change. */
const NUMBER_CHANGES = statement(
  'posts.number_changes',
  `update channels set last_change = last_change + $2 where deployment_id = $1 returning last_change as "lastChange"`,
);

/** Returns the posts that exist. The rows of their conversations are locked. */
export function findNoted(tx: DatabaseSession, notes: readonly NotedReference[]): Promise<PostWithContent[]> {
  const column = <Value>(pick: (note: NotedReference) => Value) => notes.map(pick);
  return tx.rows<PostWithContent>(FIND, [
    column((note) => note.deploymentId),
    column((note) => note.conversation),
    column((note) => note.postId),
    column((note) => note.turnId),
    column((note) => note.kind),
    column((note) => note.part),
    column((note) => note.key),
  ]);
}

/** Writes new and changed posts, each once. */
export async function putPosts(tx: DatabaseSession, posts: readonly PostWithContent[]): Promise<void> {
  const column = <Value>(pick: (post: PostWithContent) => Value) => posts.map(pick);
  await tx.change(PUT, [
    column((post) => post.postId),
    column((post) => post.deploymentId),
    column((post) => post.conversation),
    column((post) => post.sessionId),
    column((post) => post.sessionOwnerId),
    column((post) => post.turnId),
    column((post) => post.kind),
    column((post) => post.part),
    column((post) => post.key),
    column((post) => post.state),
    column((post) => post.revision),
    column((post) => post.externalId),
    column((post) => post.shownSha256),
    column((post) => post.maybeDuplicate),
    column((post) => post.attempts),
    column((post) => post.tryingSince),
    column((post) => post.nextAt),
    column((post) => post.error),
    column((post) => post.text),
    column((post) => post.content && Buffer.from(post.content)),
    column((post) => post.change),
    column((post) => post.createdAt),
    column((post) => post.updatedAt),
  ]);
}

/** Returns the number of the first of `count` changes of a channel's posts. */
export async function numberChanges(
  tx: DatabaseSession,
  deploymentId: string,
  count: number,
): Promise<number> {
  const [row] = await tx.rows<{ lastChange: number }>(NUMBER_CHANGES, [deploymentId, count]);
  return (row?.lastChange ?? count) - count + 1;
}
