import { type CursorScope, decodeCursor, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
} from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';

/** A conversation while its row is locked. */
export interface LockedConversation {
  deploymentId: string;
  conversation: string;
  ownerId: string;
  sessionId: string | null;
  sessionOwnerId: string | null;
  isDetached: boolean;
  detachedAt: Date | null;
  isGreeted: boolean;
  /** JSON object {place, thread, is_group}. */
  place: string;
  fence: number;
  /** Null: no worker holds it. */
  holder: string | null;
}

/** A conversation as a delivery has found it. */
interface SeenConversation {
  deploymentId: string;
  conversation: string;
  /** Empty: unknown, or unchanged. */
  title: string;
  /** JSON object {place, thread, is_group}. */
  place: string;
  /** The time of the message. */
  at: Date;
}

interface Person {
  deploymentId: string;
  conversation: string;
  team: string;
  externalId: string;
  name: string;
  at: Date;
}

interface ConversationRow {
  conversation: string;
  title: string | null;
  sessionId: string | null;
  state: string;
  people: number;
  lastInAt: Date;
  lastOutAt: Date | null;
  waitingPosts: number;
  reason: string | null;
}

interface ConversationPage {
  caller: string;
  deploymentId: string;
  limit: number;
  cursor: string;
}

const ENSURE = statement(
  'conversations.ensure',
  `insert into conversations (deployment_id, conversation, owner_id, title, place, last_in_at, created_at)
   select $1, $2, c.owner_id, nullif($3, ''), $4, $5, $5 from channels c where c.deployment_id = $1
   on conflict (deployment_id, conversation) do update
     set title = coalesce(excluded.title, conversations.title),
       place = case when conversations.place_reason is null then excluded.place else conversations.place end,
       last_in_at = case when $6 then greatest(conversations.last_in_at, excluded.last_in_at)
         else conversations.last_in_at end`,
);

const LOCKED_COLUMNS = `
  c.deployment_id as "deploymentId", c.conversation, c.owner_id as "ownerId", c.session_id as "sessionId",
  c.session_owner_id as "sessionOwnerId", c.is_detached as "isDetached", c.detached_at as "detachedAt",
  c.is_greeted as "isGreeted", c.place, c.fence, c.holder`;

const LOCK = statement(
  'conversations.lock',
  `select ${LOCKED_COLUMNS} from conversations c where c.deployment_id = $1 and c.conversation = $2 for update`,
);

const LOCK_UNLOCKED = statement(
  'conversations.lock_unlocked',
  `select ${LOCKED_COLUMNS}
   from unnest($1::text[], $2::text[]) as g (deployment_id, conversation)
   join conversations c on c.deployment_id = g.deployment_id and c.conversation = g.conversation
   for update of c skip locked`,
);

/** Another session begins at its first event. The worker that follows the earlier session loses its lease. */
const ATTACH = statement(
  'conversations.attach',
  `update conversations set session_id = $3, session_owner_id = $4, is_detached = false, told_seq = 0,
     told_at = null, fence = fence + 1, holder = null, lease_until = null, failures = 0, reason = null
   where deployment_id = $1 and conversation = $2`,
);

const DETACH = statement(
  'conversations.detach',
  `update conversations set is_detached = true, detached_at = $3 where deployment_id = $1 and conversation = $2`,
);

/** A worker that holds the conversation follows its session, so only notices are handed out to it again. */
const ENGAGE = statement(
  'conversations.engage',
  `update conversations set is_engaged = true, engagements = engagements + 1,
     ready_at = case when lease_until > $3 and not $4 then ready_at else least(ready_at, $3) end
   where deployment_id = $1 and conversation = $2`,
);

/** The whole session is told again, because one of its posts is to be sent again. */
const RETELL = statement(
  'conversations.retell',
  `update conversations set told_seq = 0, told_at = null, fence = fence + 1, holder = null, lease_until = null, is_engaged = true,
     engagements = engagements + 1, ready_at = $3
   where deployment_id = $1 and conversation = $2`,
);

const GREETED = statement(
  'conversations.greeted',
  'update conversations set is_greeted = true where deployment_id = $1 and conversation = $2',
);

/** The product's answers to the newest posts. */
const SHOWN = statement(
  'conversations.shown',
  `update conversations c set last_out_at = greatest(c.last_out_at, g.posted_at),
     failures = case when g.error is null then 0 else c.failures + 1 end, reason = g.error
   from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[])
     as g (deployment_id, conversation, posted_at, error)
   where c.deployment_id = g.deployment_id and c.conversation = g.conversation`,
);

const ADD_PERSON = statement(
  'conversations.add_person',
  `insert into conversation_people (deployment_id, conversation, team, external_id, name, last_in_at)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (deployment_id, conversation, team, external_id) do update
     set name = excluded.name, last_in_at = greatest(conversation_people.last_in_at, excluded.last_in_at)`,
);

const LIST = statement(
  'conversations.list',
  `select c.conversation, c.title, case when c.is_detached then null else c.session_id end as "sessionId",
     case when not c.is_engaged then 'idle' when c.failures > 0 then 'failing' else 'engaged' end as state,
     (select count(*)::integer from conversation_people p
      where p.deployment_id = c.deployment_id and p.conversation = c.conversation) as people,
     c.last_in_at as "lastInAt", c.last_out_at as "lastOutAt",
     (select count(*)::integer from posts p where p.deployment_id = c.deployment_id and p.conversation = c.conversation
       and p.state in ('wanted', 'posting')) as "waitingPosts",
     coalesce(c.reason, c.place_reason) as reason
   from conversations c
   where c.deployment_id = $1
     and ($2::timestamptz is null or c.last_in_at < $2 or (c.last_in_at = $2 and c.conversation > $3))
   order by c.last_in_at desc, c.conversation limit $4`,
);

export type ConversationStore = ReturnType<typeof createConversationStore>;

export function createConversationStore(db: Database) {
  return {
    async list({ caller, deploymentId, limit, cursor }: ConversationPage, options?: ReadOptions) {
      const scope: CursorScope = ['conversations', caller, deploymentId];
      const { at, conversation } = positionOf(decodeCursor(scope, cursor));
      const rows = await db.rows<ConversationRow>(LIST, [deploymentId, at, conversation, limit + 1], options);
      return pageOf(rows, limit, scope, (row) => `${row.lastInAt.getTime()} ${row.conversation}`);
    },
  };
}

/** A key is the time of the last message and the conversation. Ids of products can contain spaces. */
function positionOf(key: string | undefined): { at: Date | null; conversation: string } {
  if (key === undefined) return { at: null, conversation: '' };
  const [, time = '', conversation = ''] = /^(\d{1,15}) (.*)$/s.exec(key) ?? [];
  if (time === '') throw refuse('INVALID_CURSOR', 'The cursor is malformed. Start from the first page.');
  return { at: new Date(Number(time)), conversation };
}

/**
 * Creates the conversation if it does not exist. A message that is not accepted does not count as its last one. Returns
 * undefined when the channel is deleted.
 */
export async function ensureConversation(
  tx: DatabaseSession,
  { deploymentId, conversation, title, place, at }: SeenConversation,
  isAccepted: boolean,
): Promise<LockedConversation | undefined> {
  await tx.change(ENSURE, [deploymentId, conversation, title, place, at, isAccepted]);
  return lockConversation(tx, deploymentId, conversation);
}

export async function lockConversation(
  tx: DatabaseSession,
  deploymentId: string,
  conversation: string,
): Promise<LockedConversation | undefined> {
  const [row] = await tx.rows<LockedConversation>(LOCK, [deploymentId, conversation]);
  return row;
}

type ConversationKey = Pick<LockedConversation, 'deploymentId' | 'conversation'>;

/** Locks those of these conversations that no other transaction has locked, without waiting, and returns them. */
export function lockUnlockedConversations(
  tx: DatabaseSession,
  keys: readonly ConversationKey[],
): Promise<LockedConversation[]> {
  const ids = keys.map(({ deploymentId }) => deploymentId);
  const names = keys.map(({ conversation }) => conversation);
  return tx.rows<LockedConversation>(LOCK_UNLOCKED, [ids, names]);
}

export async function attachSession(
  tx: DatabaseSession,
  { deploymentId, conversation }: ConversationKey,
  { sessionId, ownerId }: { sessionId: string; ownerId: string },
): Promise<void> {
  await tx.change(ATTACH, [deploymentId, conversation, sessionId, ownerId]);
}

export async function detachSession(tx: DatabaseSession, key: ConversationKey, now: Date): Promise<void> {
  await tx.change(DETACH, [key.deploymentId, key.conversation, now]);
}

/** Makes the conversation ready for a worker; with notices also for the worker that holds it. */
export async function engage(
  tx: DatabaseSession,
  { deploymentId, conversation }: ConversationKey,
  now: Date,
  hasNotices: boolean,
): Promise<void> {
  await tx.change(ENGAGE, [deploymentId, conversation, now, hasNotices]);
}

export async function retellSession(tx: DatabaseSession, key: ConversationKey, now: Date): Promise<void> {
  await tx.change(RETELL, [key.deploymentId, key.conversation, now]);
}

export async function setGreeted(tx: DatabaseSession, key: ConversationKey): Promise<void> {
  await tx.change(GREETED, [key.deploymentId, key.conversation]);
}

/** The product's answers to the newest posts of a conversation. */
export interface ShownAnswer extends ConversationKey {
  /** When the product took the last post. Null: it took none. */
  postedAt: Date | null;
  /** The error of the last attempt. Null: there is none. */
  error: string | null;
}

export async function setShown(tx: DatabaseSession, answers: readonly ShownAnswer[]): Promise<void> {
  await tx.change(SHOWN, [
    answers.map(({ deploymentId }) => deploymentId),
    answers.map(({ conversation }) => conversation),
    answers.map(({ postedAt }) => postedAt),
    answers.map(({ error }) => error),
  ]);
}

export async function addPerson(tx: DatabaseSession, person: Person): Promise<void> {
  const { deploymentId, conversation, team, externalId, name, at } = person;
  await tx.change(ADD_PERSON, [deploymentId, conversation, team, externalId, name, at]);
}
