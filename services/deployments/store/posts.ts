import { type CursorScope, decodeIdCursor, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
} from '../../../lib/db/database.ts';
import { POST_COLUMNS, type StoredPost } from './post-rows.ts';

export type { StoredPost };

/** Empty filters are not applied. */
interface PostPage {
  caller: string;
  deploymentId: string;
  state: string;
  conversation: string;
  limit: number;
  cursor: string;
}

interface ConversationKey {
  deploymentId: string;
  conversation: string;
}

/** A notice of the service, before it is posted. */
export interface Notice {
  postId: string;
  deploymentId: string;
  conversation: string;
  /** Equal notices within an hour have equal keys. Empty: each one is posted. */
  key: string;
  /** Distinguishes the notices of one delivery, so that a repeated report adds none. */
  cause: string;
  text: string;
  /** Null: for all. */
  privateTo: string | null;
  at: Date;
}

/** A pulled post with its encoded content. */
export interface PulledRow {
  postId: string;
  revision: number;
  change: number;
  content: Buffer;
}

/** About the last ten turns. A worker that was stopped early may not have told all of them. */
const NEWEST_POSTS = 40;

const LIST = statement(
  'posts.list',
  `select ${POST_COLUMNS} from posts p
   where p.deployment_id = $1 and ($2::text is null or p.post_id < $2) and ($3 = '' or p.state = $3)
     and ($4 = '' or p.conversation = $4)
   order by p.post_id desc limit $5`,
);

const FIND = statement(
  'posts.find',
  `select ${POST_COLUMNS} from posts p where p.deployment_id = $1 and p.post_id = $2`,
);

/**
 * The notices that are not posted, and the posts of the turns that a worker reads again: those since the last release that
 * told something, those with posts that are not posted, and the newest ones.
 */
const FOR_WORK = statement(
  'posts.for_work',
  `select ${POST_COLUMNS}
   from unnest($1::text[], $2::text[]) as g (deployment_id, conversation)
   join conversations c on c.deployment_id = g.deployment_id and c.conversation = g.conversation
   cross join lateral (
     select min(t.turn_id) as first_turn from posts t
     where t.deployment_id = c.deployment_id and t.conversation = c.conversation and t.session_id = c.session_id
       and (c.told_at is null or t.created_at >= c.told_at or t.state in ('wanted', 'posting') or t.post_id >= coalesce((
         select n.post_id from posts n
         where n.deployment_id = c.deployment_id and n.conversation = c.conversation and n.session_id = c.session_id
         order by n.post_id desc offset ${NEWEST_POSTS - 1} limit 1), ''))
   ) untold
   join posts p on p.deployment_id = c.deployment_id and p.conversation = c.conversation
   where (p.kind = 'notice' and p.turn_id = '' and p.state in ('wanted', 'posting'))
     or (p.session_id = c.session_id and p.turn_id >= untold.first_turn)
   order by p.post_id`,
);

const APPROVAL = statement(
  'posts.of_approval',
  `select ${POST_COLUMNS} from posts p
   where p.deployment_id = $1 and p.conversation = $2 and p.kind = 'approval' and p.key = $3
   order by p.post_id desc limit 1`,
);

const PULL = statement(
  'posts.pull',
  `select post_id as "postId", revision, change, content from posts
   where deployment_id = $1 and change > $2 and content is not null order by change limit $3`,
);

const ADD_NOTICE = statement(
  'posts.add_notice',
  `insert into posts (post_id, deployment_id, conversation, owner_id, kind, key, state, text, private_to, created_at,
     updated_at)
   select $1, $2, $3, c.owner_id, 'notice', $4 || chr(10) || $5, 'wanted', $6, $7, $8, $8
   from channels c
   where c.deployment_id = $2 and ($4 = '' or not exists (
     select from posts p
     where p.deployment_id = $2 and p.conversation = $3 and p.turn_id = '' and p.kind = 'notice'
       and starts_with(p.key, $4 || chr(10)) and p.private_to is not distinct from $7
       and p.created_at > $8::timestamptz - interval '1 hour'))
   on conflict (deployment_id, conversation, turn_id, kind, part, key) do nothing`,
);

/** Posts of a session that the conversation has left. */
const ABANDON = statement(
  'posts.abandon',
  `update posts set state = 'dead', error = 'session_replaced', next_at = null, updated_at = $4
   where deployment_id = $1 and conversation = $2 and session_id = $3 and state in ('wanted', 'posting')`,
);

const OWN_IDS = statement(
  'posts.own_ids',
  'select distinct external_id as "externalId" from posts where deployment_id = $1 and external_id = any($2)',
);

export type PostStore = ReturnType<typeof createPostStore>;

export function createPostStore(db: Database) {
  return {
    async list(page: PostPage, options?: ReadOptions) {
      const { caller, deploymentId, state, conversation, limit, cursor } = page;
      const scope: CursorScope = ['posts', caller, deploymentId, state, conversation];
      const before = decodeIdCursor('pst', scope, cursor) ?? null;
      const values = [deploymentId, before, state, conversation, limit + 1];
      const rows = await db.rows<StoredPost>(LIST, values, options);
      return pageOf(rows, limit, scope, ({ postId }) => postId);
    },

    async find(deploymentId: string, postId: string, options?: ReadOptions): Promise<StoredPost | undefined> {
      const [row] = await db.rows<StoredPost>(FIND, [deploymentId, postId], options);
      return row;
    },

    forWork(conversations: readonly ConversationKey[], options?: ReadOptions): Promise<StoredPost[]> {
      const ids = conversations.map(({ deploymentId }) => deploymentId);
      const names = conversations.map(({ conversation }) => conversation);
      return db.rows<StoredPost>(FOR_WORK, [ids, names], options);
    },

    /** Those of the product's ids that are ids of posts. */
    async ownIds(
      deploymentId: string,
      externalIds: readonly string[],
      options?: ReadOptions,
    ): Promise<ReadonlySet<string>> {
      if (externalIds.length === 0) return new Set();
      const rows = await db.rows<{ externalId: string }>(OWN_IDS, [deploymentId, externalIds], options);
      return new Set(rows.map(({ externalId }) => externalId));
    },

    /** The post that asks for a decision in this conversation. */
    async ofApproval(
      { deploymentId, conversation }: ConversationKey,
      approvalId: string,
      options?: ReadOptions,
    ): Promise<StoredPost | undefined> {
      const values = [deploymentId, conversation, approvalId];
      const [row] = await db.rows<StoredPost>(APPROVAL, values, options);
      return row;
    },

    pull: (deploymentId: string, after: number, limit: number, options?: ReadOptions): Promise<PulledRow[]> =>
      db.rows<PulledRow>(PULL, [deploymentId, after, limit], options),
  };
}

/** Returns whether the notice is new: one with the same key and receiver within the last hour counts as the same. */
export async function addNotice(tx: DatabaseSession, notice: Notice): Promise<boolean> {
  const { postId, deploymentId, conversation, key, cause, text, privateTo, at } = notice;
  const values = [postId, deploymentId, conversation, key, cause, text, privateTo, at];
  return (await tx.change(ADD_NOTICE, values)) > 0;
}

export async function abandonPosts(
  tx: DatabaseSession,
  { deploymentId, conversation }: ConversationKey,
  sessionId: string,
  now: Date,
): Promise<void> {
  await tx.change(ABANDON, [deploymentId, conversation, sessionId, now]);
}
