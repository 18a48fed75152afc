import { createBatcher, type SubmitOptions } from '../../../lib/db/batcher.ts';
import { type Database, type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { ChatKey, RecordedChat } from './chat-rows.ts';
import { type Columns, columnNames, columnTable } from './columns.ts';

/** A request that wants to continue the session of a key. */
export interface ChatClaim extends ChatKey {
  /** Identifies the request. */
  claim: string;
}

interface ClaimRow extends ChatClaim {
  /** Position of the claim in its batch. */
  place: number;
}

const CLAIM = {
  place: ['integer', ({ place }) => place],
  owner_id: ['text', ({ ownerId }) => ownerId],
  key: ['bytea', ({ key }) => key],
  claim: ['text', ({ claim }) => claim],
} satisfies Columns<ClaimRow>;
const ROWS = columnTable<ClaimRow, typeof CLAIM>(1, CLAIM);

/**
 * Claims the records of keys unless another request has, or the session has a later turn or is archived. A compaction is no
 * such turn: it has no message. The row lock makes one of two simultaneous requests wait for the other. The session is read
 * in subqueries, because a join on the owner could read all sessions of the owner.
 */
const UPDATE = statement(
  'sessions.claim_chats',
  `update chat_prefixes p set claimed_by = i.claim
   from (${ROWS.selectForLookups(columnNames(CLAIM))}) i
   where p.owner_id = i.owner_id and p.key = i.key
     and (
       select s.owner_id = p.owner_id and s.deleted_at is null
         and (p.claimed_by = i.claim or (p.claimed_by is null and s.archived_at is null
           and p.turn_id = (
             select newest.turn_id from turns newest where newest.session_id = p.session_id and newest.kind is null
             order by newest.position desc limit 1
           )))
       from sessions s where s.session_id = p.session_id
     )
   returning i.place, p.key, p.session_id as "sessionId", p.turn_id as "turnId",
     (select s.agent_id from sessions s where s.session_id = p.session_id) as "agentId"`,
);

const BYTES_PER_CLAIM = 500;

/** Claims keys of chats. Claims that arrive together share a commit. Returns undefined if the request has no claim. */
export function createChatClaims(db: Database) {
  const group = createBatcher<ChatClaim, RecordedChat | undefined>({
    name: 'sessions.chat_claims',
    observer: db.observer,
    run: (claims, options) => claimAll(db.within(options), claims),
    sizeOf: () => BYTES_PER_CLAIM,
    // A statement updates a row once, so two claims of a key in one statement would be one update.
    keyOf: ({ ownerId, key }) => `${ownerId} ${key.toString('hex')}`,
    ownerOf: ({ ownerId }) => ownerId,
    maxItems: 256,
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
  return (claim: ChatClaim, options?: SubmitOptions) => group.submit(claim, options);
}

async function claimAll(
  session: DatabaseSession,
  claims: readonly ChatClaim[],
): Promise<(RecordedChat | undefined)[]> {
  const values = ROWS.values(claims.map((claim, place) => ({ ...claim, place })));
  const rows = await session.rows<RecordedChat & { place: number }>(UPDATE, values);
  const claimed = new Map(rows.map(({ place, ...chat }) => [place, chat]));
  return claims.map((_, place) => claimed.get(place));
}
