import { decodeCursor, encodeCursor } from '../../lib/db/cursor.ts';
import type { Database, ReadOptions, Session, WriteOptions } from '../../lib/db/database.ts';
import { type IdempotencyKey, once } from '../../lib/db/idempotency.ts';
import { refuse } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { type Agent, type AgentVersion, agentNotFound } from './domain.ts';
import {
  type AgentRow,
  agentOf,
  insertValues,
  type PageRow,
  updateValues,
  type VersionRow,
  versionOf,
  versionValues,
} from './store/rows.ts';
import * as sql from './store/statements.ts';

export interface PageOf<Item> {
  items: Item[];
  /** Empty when this is the last page. */
  nextCursor: string;
}

export interface PageRequest {
  limit: number;
  cursor: string;
}

/** How a repeated request is recognised, and what it is answered. */
export interface Creation {
  /** Empty: no key. */
  key: string;
  /** The request without its key, encoded. */
  request: IdempotencyKey['request'];
  answer: Uint8Array;
}

/** A page ends early at about this many bytes of text. */
const PAGE_BYTES = 4 * 1024 * 1024;

export type AgentStore = ReturnType<typeof createStore>;

/** Every method but `version` sees only what `owner` has created and not deleted. */
export function createStore(db: Database) {
  return {
    /** Creates the agent, or gives the answer that an earlier request with the same key got. */
    create(agent: Agent, { key, request, answer }: Creation, options?: WriteOptions) {
      return once(
        db,
        { caller: agent.createdBy, key, method: 'CreateAgent', request, now: agent.createdAt },
        async (tx) => {
          await tx.change(sql.INSERT, insertValues(agent));
          await insertVersion(tx, agent);
          return answer;
        },
        options,
      );
    },

    async agent(owner: string, agentId: string, options?: ReadOptions): Promise<Agent | undefined> {
      if (!isId('agt', agentId)) return undefined;
      const [row] = await db.rows<AgentRow>(sql.BY_ID, [owner, agentId], options);
      return row && agentOf(row);
    },

    /** Version and whether it is enabled: all that a start needs to know. */
    async state(owner: string, agentId: string, options?: ReadOptions) {
      if (!isId('agt', agentId)) return undefined;
      const [row] = await db.rows<Pick<Agent, 'version' | 'enabled'>>(sql.STATE, [owner, agentId], options);
      return row;
    },

    async list(owner: string, q: string, page: PageRequest, options?: ReadOptions): Promise<PageOf<Agent>> {
      const scope = ['ListAgents', owner, q];
      const after = keyOf(decodeCursor(scope, page.cursor), (key) => isId('agt', key));
      const values = [owner, after ?? sql.END_OF_AGENTS, pattern(q), q, page.limit, PAGE_BYTES];
      const rows = await db.rows<AgentRow & PageRow>(sql.LIST, values, options);
      return { items: rows.map(agentOf), nextCursor: next(rows, scope, (row) => row.agentId) };
    },

    /** Agents by name or by id; at most 1,000. */
    async names(owner: string, ids: string[], name: string, options?: ReadOptions) {
      const values = name === '' ? [owner, ids.filter((id) => isId('agt', id))] : [owner, pattern(name)];
      const query = name === '' ? sql.NAMES_BY_ID : sql.NAMES_BY_NAME;
      return db.rows<Pick<Agent, 'agentId' | 'name'>>(query, values, options);
    },

    /** Changes an agent while nobody else does. `change` returns the same agent to leave it as it is. */
    async change(owner: string, agentId: string, change: (agent: Agent) => Agent, options?: WriteOptions) {
      return db.transaction(async (tx) => {
        const before = await lock(tx, owner, agentId);
        const after = change(before);
        if (after.version !== before.version) await insertVersion(tx, after);
        if (after !== before) await tx.change(sql.UPDATE, updateValues(after));
        return { before, after };
      }, options);
    },

    /** Whether it was there. */
    async delete(owner: string, agentId: string, now: Date, options?: WriteOptions): Promise<boolean> {
      if (!isId('agt', agentId)) return false;
      return (await db.change(sql.DELETE, [owner, agentId, now], options)) > 0;
    },

    async versions(
      owner: string,
      agentId: string,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<PageOf<AgentVersion>> {
      const scope = ['ListAgentVersions', owner, agentId];
      const after = keyOf(decodeCursor(scope, page.cursor), (key) => /^[1-9]\d{0,8}$/.test(key));
      const values = [owner, agentId, after ?? sql.END_OF_VERSIONS, page.limit, PAGE_BYTES];
      const rows = await db.rows<VersionRow & PageRow>(sql.VERSIONS, values, options);
      return { items: rows.map(versionOf), nextCursor: next(rows, scope, (row) => String(row.version)) };
    },

    /** A version of whoever's agent, deleted or not, unless an owner is named. */
    async version(owner: string | undefined, agentId: string, version: number, options?: ReadOptions) {
      if (!isId('agt', agentId)) return undefined;
      const [row] = await db.rows<VersionRow>(sql.VERSION, [agentId, version, owner ?? null], options);
      return row && versionOf(row);
    },
  };
}

async function lock(tx: Session, owner: string, agentId: string): Promise<Agent> {
  if (!isId('agt', agentId)) throw agentNotFound();
  const values = [owner, agentId];
  const locked = await tx.rows(sql.LOCK, values);
  const [row] = locked.length > 0 ? await tx.rows<AgentRow>(sql.BY_ID, values) : [];
  if (!row) throw agentNotFound();
  return agentOf(row);
}

async function insertVersion(tx: Session, agent: Agent): Promise<void> {
  await tx.change(sql.INSERT_VERSION, versionValues(agent));
}

/** The cursor is the client's, so its key can be anything. */
function keyOf(key: string | undefined, valid: (key: string) => boolean): string | undefined {
  if (key === undefined || valid(key)) return key;
  throw refuse('INVALID_CURSOR', 'the cursor is not one of this list');
}

function next<Row extends PageRow>(rows: Row[], scope: string[], keyOfRow: (row: Row) => string): string {
  const last = rows.at(-1);
  return last && last.candidates > rows.length ? encodeCursor(scope, keyOfRow(last)) : '';
}

/** Finds the text anywhere, as it is. */
function pattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
