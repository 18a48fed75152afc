import { decodeCursor, type Page, pageOf } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, type Statement, statement } from '../../../lib/db/database.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { TURN_COLUMNS, type TurnRow } from './state.ts';

/** For whom, and in which trace, something is read. */
export type { ReadOptions };

/** A session as lists and readers see it. */
export interface SessionRow {
  session_id: string;
  owner_id: string;
  agent_id: string;
  agent_version: number;
  deployment_id: string | null;
  title: string | null;
  metadata: string;
  created_at: Date;
  archived_at: Date | null;
  last_seq: number;
  status: string;
  stop_reason: string | null;
  current_turn_id: string | null;
  queued_turns: number;
  input_tokens: number;
  output_tokens: number;
  steps: number;
  tool_calls: number;
  active_ms: number;
  updated_at: Date;
  environment_status: string | null;
  sandbox_id: string | null;
  sandbox_provider: string | null;
}

export interface SessionFilter {
  /** Who asks: a cursor is good for nobody else. */
  callerId: string;
  /** Undefined: of everybody. */
  ownerId: string | undefined;
  agentId: string;
  deploymentId: string;
  status: string;
  needsAction?: boolean | undefined;
  q: string;
  archived?: boolean | undefined;
}

export interface PageRequest {
  limit: number;
  /** Empty for the first page. */
  cursor: string;
}

const SESSION_COLUMNS = `
  s.session_id, s.owner_id, s.agent_id, s.agent_version, s.deployment_id, s.title, s.metadata, s.created_at,
  s.archived_at, h.last_seq, h.status, h.stop_reason, h.current_turn_id, h.queued_turns, h.input_tokens,
  h.output_tokens, h.steps, h.tool_calls, h.active_ms, h.updated_at,
  h.environment_status, h.sandbox_id, h.sandbox_provider`;

/** One by one: joined as tables, the heads of everybody else's newer sessions would be read as well. */
const HEAD_OF_EACH = `cross join lateral (
  select h.*, e.status as environment_status, e.sandbox_id, e.provider as sandbox_provider
  from heads h left join session_environments e using (session_id) where h.session_id = s.session_id limit 1
) h`;

const BY_ID = statement(
  'sessions.by_id',
  `select ${SESSION_COLUMNS} from sessions s ${HEAD_OF_EACH} where s.session_id = $1 and s.deleted_at is null`,
);

/** A turn that is current while nothing runs waits for somebody. */
const NEEDS_ACTION = `(h.current_turn_id is not null and h.status in ('idle', 'pending'))`;

/** Sessions with anything to do are found by what they have to do: there are fewer of them. */
const atWork = (whose: string) =>
  `s.session_id in (select session_id from turns where ${whose} finished_at is null)`;
const WORKING = new Set(['pending', 'running', 'rescheduling']);

/** Each filter that is set adds its line, so that each combination is a statement with a plan of its own. */
function listStatement(
  filter: SessionFilter,
  before: string | undefined,
  limit: number,
): { query: Statement; values: unknown[] } {
  const values: unknown[] = [limit];
  const lines = ['s.deleted_at is null'];
  const names: string[] = [];
  const add = (name: string, value: unknown, line: (place: string) => string) => {
    values.push(value);
    names.push(name);
    lines.push(line(`$${values.length}`));
  };
  if (filter.ownerId !== undefined) add('owner', filter.ownerId, (place) => `s.owner_id = ${place}`);
  if (filter.agentId) add('agent', filter.agentId, (place) => `s.agent_id = ${place}`);
  if (filter.deploymentId) add('deployment', filter.deploymentId, (place) => `s.deployment_id = ${place}`);
  if (filter.status) add('status', filter.status, (place) => `h.status = ${place}`);
  if (WORKING.has(filter.status) || filter.needsAction) {
    names.push('at_work');
    lines.push(atWork(filter.ownerId === undefined ? '' : 'owner_id = $2 and'));
  }
  if (filter.needsAction !== undefined)
    add('action', filter.needsAction, (place) => `${NEEDS_ACTION} = ${place}`);
  if (filter.q)
    add('q', likePattern(filter.q), (place) => `(s.title ilike ${place} or s.session_id ilike ${place})`);
  const byHead = filter.status !== '' || filter.needsAction !== undefined;
  names.push(filter.archived ? 'archived' : 'kept');
  lines.push(filter.archived ? 's.archived_at is not null' : 's.archived_at is null');
  if (before !== undefined) add('before', before, (place) => `s.session_id < ${place}`);
  return {
    query: statement(
      `sessions.list_${names.join('_')}`,
      // First which, then what of them: what is read of each must not weigh in how they are found.
      `select ${SESSION_COLUMNS} from (
         select s.* from sessions s ${byHead ? HEAD_OF_EACH : ''}
         where ${lines.join(' and ')} order by s.session_id desc limit $1
       ) s ${HEAD_OF_EACH} order by s.session_id desc`,
    ),
    values,
  };
}

const OF_DEPLOYMENT = statement(
  'sessions.of_deployment',
  `select session_id, created_at, body_bytes, source_address from sessions
   where deployment_id = $1 and session_id < $2 order by session_id desc limit $3`,
);

const TURNS_AFTER = statement(
  'sessions.turns_after',
  `select t.session_id, t.created_at, ${TURN_COLUMNS} from turns t
   where t.session_id = $1 and t.position > $2 order by t.position limit $3`,
);

const UNFINISHED_TURNS = statement(
  'sessions.unfinished_turns',
  `select t.session_id, t.created_at, ${TURN_COLUMNS} from turns t
   where t.owner_id = $4 and t.session_id = $1 and t.finished_at is null and t.position > $2
   order by t.position limit $3`,
);

const TURN_BY_ID = statement(
  'sessions.turn_by_id',
  `select t.session_id, t.created_at, ${TURN_COLUMNS} from turns t where t.session_id = $1 and t.turn_id = $2`,
);

export type ListedTurn = TurnRow & { session_id: string; created_at: Date };

export interface DeploymentSessionRow {
  session_id: string;
  created_at: Date;
  body_bytes: number;
  source_address: string;
}

export type Lists = ReturnType<typeof createLists>;

/** Reads sessions and turns. */
export function createLists(db: Database) {
  return {
    async session(sessionId: string, options?: ReadOptions): Promise<SessionRow | undefined> {
      const [row] = await db.rows<SessionRow>(BY_ID, [sessionId], options);
      return row;
    },
    /** Newest first. */
    async sessions(
      filter: SessionFilter,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<Page<SessionRow>> {
      const { callerId, ownerId, agentId, deploymentId, status, needsAction, q, archived } = filter;
      const scope = ['sessions', callerId, ownerId, agentId, deploymentId, status, needsAction, q, archived];
      const before = decodeCursor(scope, page.cursor);
      const { query, values } = listStatement(filter, before, page.limit + 1);
      const rows = await db.rows<SessionRow>(query, values, options);
      return pageOf(rows, page.limit, scope, (row) => row.session_id);
    },
    /** Sessions that a deployment began, newest first. */
    ofDeployment(deploymentId: string, before: string, limit: number, options?: ReadOptions) {
      return db.rows<DeploymentSessionRow>(OF_DEPLOYMENT, [deploymentId, before, limit], options);
    },
    /** Oldest first; with `unfinishedOf`, its owner, only those that have not ended. */
    async turns(
      sessionId: string,
      page: PageRequest,
      unfinishedOf: string | undefined,
      options?: ReadOptions,
    ): Promise<Page<ListedTurn>> {
      const scope = ['turns', sessionId, unfinishedOf];
      const after = Number(decodeCursor(scope, page.cursor) ?? 0);
      const asked = [sessionId, after, page.limit + 1];
      const rows =
        unfinishedOf === undefined
          ? await db.rows<ListedTurn>(TURNS_AFTER, asked, options)
          : await db.rows<ListedTurn>(UNFINISHED_TURNS, [...asked, unfinishedOf], options);
      return pageOf(rows, page.limit, scope, (row) => String(row.position));
    },
    async turn(sessionId: string, turnId: string, options?: ReadOptions): Promise<ListedTurn | undefined> {
      const [row] = await db.rows<ListedTurn>(TURN_BY_ID, [sessionId, turnId], options);
      return row;
    },
  };
}
