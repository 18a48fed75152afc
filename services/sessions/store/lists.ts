import { decodeCursor, encodeCursor, pageOf, type RowPage } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, statement } from '../../../lib/db/database.ts';
import { LruCache } from '../../../lib/lru.ts';
import { OUTCOMES } from '../domain/derived-state.ts';
import type { SessionStatus } from '../domain/state.ts';
import { COUNT_LIMIT, countStatement, type MetadataDriver } from './metadata-filter.ts';
import {
  HEAD_OF_EACH,
  isFilteredByWork,
  listStatement,
  SESSION_COLUMNS,
  type SessionFilter,
} from './session-list.ts';
import { TURN_COLUMNS, type TurnRow } from './state.ts';
import type { UsageRow } from './usage.ts';

export type { ReadOptions };

/** A session with its head and environment. */
export interface SessionRow extends UsageRow {
  session_id: string;
  owner_id: string;
  agent_id: string;
  agent_version: number;
  deployment_id: string | null;
  /** A webhook created the session. */
  is_invocation: boolean;
  /** Null for sessions of earlier releases. */
  source: string | null;
  token_id: string | null;
  title: string | null;
  metadata: string;
  created_at: Date;
  archived_at: Date | null;
  last_seq: number;
  status: SessionStatus;
  stop_reason: string | null;
  current_turn_id: string | null;
  queued_turns: number;
  queue_held: boolean;
  updated_at: Date;
  environment_status: string | null;
  sandbox_id: string | null;
  sandbox_provider: string | null;
}

export interface PageRequest {
  limit: number;
  /** Empty for the first page. */
  cursor: string;
}

const BY_ID = statement(
  'sessions.by_id',
  `select ${SESSION_COLUMNS} from sessions s ${HEAD_OF_EACH} where s.session_id = $1 and s.deleted_at is null`,
);

/** The session with this id. Without one, the next older or newer session, which takes the same time to find. */
const NEAREST = statement(
  'sessions.nearest',
  `select session_id, agent_id, deleted_at from (
     (select session_id, agent_id, deleted_at from sessions where session_id <= $1 order by session_id desc limit 1)
     union all
     (select session_id, agent_id, deleted_at from sessions where session_id > $1 order by session_id limit 1)
   ) nearest limit 1`,
);

/** An agent id that no agent has. */
const NO_AGENT = `agt_${'0'.repeat(26)}`;

const OF_DEPLOYMENT = statement(
  'sessions.of_deployment',
  `select session_id, created_at, body_bytes, source_address, request_id from sessions
   where deployment_id = $1 and session_id < $2 and body_bytes is not null order by session_id desc limit $3`,
);

/** The turn that the message of turn `t` was delivered into. Null for none. */
const DELIVERED_TO = 'case when t.delivered_seq is not null then t.steers_turn_id end as delivered_to';

/** Length of the outputs and overrides of a page. A page has at least one turn, even if it is larger. */
const TURN_PAGE_BYTES = 4 * 1024 * 1024;

/** Selects up to $3 turns of session $1 after position $2, as long as the turns before have fewer than $4 bytes. */
function turnsStatement(name: string, condition: string) {
  return statement(
    name,
    `select t.session_id, t.created_at, t.replaces_turn_id, ${DELIVERED_TO}, t.found, ${TURN_COLUMNS} from (
       select t.*, count(*) over () as found,
         sum(size) over (order by position) - size as before
       from (
         select t.*, coalesce(octet_length(t.output), 0) + coalesce(octet_length(t.overrides), 0) as size
         from turns t where t.session_id = $1 and t.position > $2 ${condition} order by t.position limit $3
       ) t
     ) t
     where before < $4 order by t.position`,
  );
}

const TURNS_AFTER = turnsStatement('sessions.turns_after', '');

const UNFINISHED_TURNS = turnsStatement(
  'sessions.unfinished_turns',
  'and t.owner_id = $5 and t.finished_at is null',
);

const TURN_BY_ID = statement(
  'sessions.turn_by_id',
  `select t.session_id, t.created_at, t.replaces_turn_id, ${DELIVERED_TO}, ${TURN_COLUMNS} from turns t
   where t.session_id = $1 and t.turn_id = $2
     and exists (select from sessions s where s.session_id = $1 and s.deleted_at is null)`,
);

const TURN_SETTINGS = statement(
  'sessions.turn_settings',
  `select agent_id, agent_version, overrides from sessions where session_id = $1 and deleted_at is null`,
);

const LAST_TURN = statement(
  'sessions.last_turn',
  `select turn_id, overrides from turns
   where session_id = $1 and kind is null and not removed and delivered_seq is null
   order by position desc limit 1`,
);

export type ListedTurn = TurnRow & {
  session_id: string;
  created_at: Date;
  replaces_turn_id: string | null;
  delivered_to: string | null;
};

/** The agent version and the overrides of the turns of a session. */
export interface TurnSettings {
  agent_id: string;
  agent_version: number;
  /** JSON text. Null for none. */
  overrides: string | null;
}

/** `found` is the number of turns in the page and up to one more, also those that the size of the page leaves out. */
type CountedTurn = ListedTurn & { found: number };

interface DeploymentSessionRow {
  session_id: string;
  created_at: Date;
  body_bytes: number;
  source_address: string;
  /** Null for sessions of older releases. */
  request_id: string | null;
}

export type Lists = ReturnType<typeof createLists>;

/** The owners of at most this many sessions are remembered. The least recently used are dropped first. */
const MAX_OWNERS = 10_000;

/** Reads sessions and turns. */
export function createLists(db: Database) {
  const owners = new LruCache<string, string>(MAX_OWNERS);

  /**
   * The member of the metadata whose entries a page is taken from: the rarest one. Undefined when the states, or the unfinished
   * turns, select fewer sessions.
   */
  async function driverOf(filter: SessionFilter, options?: ReadOptions): Promise<MetadataDriver | undefined> {
    const { ownerId, agentId, archived = false, metadata, states } = filter;
    const [first] = metadata;
    if (!first || isFilteredByWork(filter)) return undefined;
    if (metadata.length === 1 && states.length === 0) return { member: first, isFrequent: false };
    const outcomes = OUTCOMES.filter((outcome) => states.includes(outcome));
    // Most sessions are completed.
    const counted = outcomes.includes('completed') ? [] : outcomes;
    const { query, values } = countStatement({ ownerId, agentId, archived }, metadata, counted);
    const [row] = await db.rows<{ counts: number[] }>(query, values, options);
    const counts = row?.counts ?? [];
    const rarest = Math.min(...counts.slice(0, metadata.length));
    const ofStates = counts[metadata.length];
    if (ofStates !== undefined && ofStates <= rarest) return undefined;
    return { member: metadata[counts.indexOf(rarest)] ?? first, isFrequent: rarest === COUNT_LIMIT };
  }

  return {
    async session(sessionId: string, options?: ReadOptions): Promise<SessionRow | undefined> {
      const [row] = await db.rows<SessionRow>(BY_ID, [sessionId], options);
      if (row) owners.set(sessionId, row.owner_id);
      return row;
    },
    /** The owner of a session, which never changes. Undefined for a session that this process has not read lately. */
    knownOwner: (sessionId: string): string | undefined => owners.get(sessionId),
    /** The agent of a session. For an unknown session, the agent of any other session, in the same time. */
    async agentOfSession(
      sessionId: string,
      options?: ReadOptions,
    ): Promise<{ agentId: string; exists: boolean }> {
      const [nearest] = await db.rows<
        Pick<SessionRow, 'session_id' | 'agent_id'> & { deleted_at: Date | null }
      >(NEAREST, [sessionId], options);
      const exists = nearest?.session_id === sessionId && nearest.deleted_at === null;
      return { agentId: nearest?.agent_id ?? NO_AGENT, exists };
    },
    /** A page of sessions, newest first. */
    async sessions(
      filter: SessionFilter,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<RowPage<SessionRow>> {
      const { callerId, ownerId, agentId, deploymentId, status, states, needsAction, q, archived } = filter;
      const { metadata, createdAfter, createdBefore } = filter;
      const members = metadata.map(({ key, value }) => [key, value]);
      const created = [createdAfter?.toISOString(), createdBefore?.toISOString()];
      const narrowing = [
        ...[agentId, deploymentId, status, states.join(), needsAction, q, archived],
        ...(members.length > 0 ? [JSON.stringify(members)] : []),
        ...(createdAfter || createdBefore ? created : []),
      ];
      const scope = ['sessions', callerId, ownerId, ...narrowing];
      const before = decodeCursor(scope, page.cursor);
      const driver = await driverOf(filter, options);
      const { query, values } = listStatement(filter, before, page.limit + 1, driver);
      const rows = await db.rows<SessionRow>(query, values, options);
      return pageOf(rows, page.limit, scope, (row) => row.session_id);
    },
    /** Sessions that the invocations of a webhook created, newest first. */
    ofDeployment(deploymentId: string, before: string, limit: number, options?: ReadOptions) {
      return db.rows<DeploymentSessionRow>(OF_DEPLOYMENT, [deploymentId, before, limit], options);
    },
    /** A page of turns, oldest first. With `unfinishedOf`, the id of the owner, only unfinished turns. */
    async turns(
      sessionId: string,
      page: PageRequest,
      unfinishedOf: string | undefined,
      options?: ReadOptions,
    ): Promise<RowPage<ListedTurn>> {
      const scope = ['turns', sessionId, unfinishedOf];
      const after = Number(decodeCursor(scope, page.cursor) ?? 0);
      const values = [sessionId, after, page.limit + 1, TURN_PAGE_BYTES];
      const rows =
        unfinishedOf === undefined
          ? await db.rows<CountedTurn>(TURNS_AFTER, values, options)
          : await db.rows<CountedTurn>(UNFINISHED_TURNS, [...values, unfinishedOf], options);
      const shown = rows.slice(0, page.limit);
      const last = shown.at(-1);
      const nextCursor = last && last.found > shown.length ? encodeCursor(scope, String(last.position)) : '';
      return { rows: shown, nextCursor };
    },
    async turn(sessionId: string, turnId: string, options?: ReadOptions): Promise<ListedTurn | undefined> {
      const [row] = await db.rows<ListedTurn>(TURN_BY_ID, [sessionId, turnId], options);
      return row;
    },
    /** The answering turn that was queued last, was not removed and got its message itself. Undefined for a session without turns. */
    async lastTurn(
      sessionId: string,
      options?: ReadOptions,
    ): Promise<Pick<TurnRow, 'turn_id' | 'overrides'> | undefined> {
      const [row] = await db.rows<Pick<TurnRow, 'turn_id' | 'overrides'>>(LAST_TURN, [sessionId], options);
      return row;
    },
    /** The settings of the next turn of a session. */
    async turnSettings(sessionId: string, options?: ReadOptions): Promise<TurnSettings | undefined> {
      const [row] = await db.rows<TurnSettings>(TURN_SETTINGS, [sessionId], options);
      return row;
    },
  };
}
