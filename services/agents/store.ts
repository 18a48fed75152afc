import type { Database, ReadOptions, Session, WriteOptions } from '../../lib/db/database.ts';
import { once } from '../../lib/db/idempotency.ts';
import { likePattern } from '../../lib/db/like.ts';
import { isId } from '../../lib/ids.ts';
import type { Kind } from './domain/kind.ts';
import type { Agent, AgentVersion, Standing } from './domain.ts';
import type { Creation } from './store/creation.ts';
import { requireEnvironment } from './store/environments.ts';
import {
  END_OF_VERSIONS,
  isVersionNumber,
  nextCursor,
  PAGE_BYTES,
  type PageOf,
  type PageRequest,
  type PageRow,
  placeIn,
} from './store/paging.ts';
import {
  type AgentRow,
  agentOf,
  insertValues,
  updateValues,
  type VersionRow,
  versionOf,
  versionValues,
} from './store/rows.ts';
import * as sql from './store/statements.ts';

export type AgentStore = ReturnType<typeof createAgentStore>;

/**
 * Agents, or assistants: whatever the kind says. Every method but `version` and `runtime` sees only what `owner`
 * has created and not deleted.
 */
export function createAgentStore(db: Database, kind: Kind) {
  const { prefix } = kind;

  async function lock(tx: Session, owner: string, agentId: string): Promise<Agent> {
    if (!isId(prefix, agentId)) throw kind.notFound();
    const values = [owner, agentId];
    const locked = await tx.rows(sql.LOCK, values);
    const [row] = locked.length > 0 ? await tx.rows<AgentRow>(sql.BY_ID, values) : [];
    if (!row) throw kind.notFound();
    return agentOf(row);
  }

  return {
    kind,

    /** Creates it, or gives the answer that an earlier request with the same key got. Its environment has to be there. */
    create(agent: Agent, { key, request, answer }: Creation, options?: WriteOptions) {
      return once(
        db,
        { caller: agent.createdBy, key, method: kind.creation, request, now: agent.createdAt },
        async (tx) => {
          await requireEnvironment(tx, agent.runtime.environmentId);
          await tx.change(sql.INSERT, insertValues(agent));
          await insertVersion(tx, agent);
          return answer;
        },
        options,
      );
    },

    async agent(owner: string, agentId: string, options?: ReadOptions): Promise<Agent | undefined> {
      if (!isId(prefix, agentId)) return undefined;
      const [row] = await db.rows<AgentRow>(sql.BY_ID, [owner, agentId], options);
      return row && agentOf(row);
    },

    /** All that a start needs to know. */
    async standing(owner: string, agentId: string, options?: ReadOptions): Promise<Standing | undefined> {
      if (!isId(prefix, agentId)) return undefined;
      const [row] = await db.rows<Standing>(sql.STANDING, [owner, agentId], options);
      return row;
    },

    async list(owner: string, q: string, page: PageRequest, options?: ReadOptions): Promise<PageOf<Agent>> {
      const scope = [kind.list, owner, q];
      const after = placeIn(scope, page, (key) => isId(prefix, key)) ?? sql.endOf(prefix);
      const values = [owner, after, likePattern(q), q, page.limit, PAGE_BYTES, sql.startOf(prefix)];
      const rows = await db.rows<AgentRow & PageRow>(sql.LIST, values, options);
      return { items: rows.map(agentOf), nextCursor: nextCursor(rows, scope, (row) => row.agentId) };
    },

    /** By name or by id; at most 1,000. */
    async names(owner: string, ids: string[], name: string, options?: ReadOptions) {
      if (name === '') {
        const values = [owner, ids.filter((id) => isId(prefix, id))];
        return db.rows<Pick<Agent, 'agentId' | 'name'>>(sql.NAMES_BY_ID, values, options);
      }
      const values = [owner, likePattern(name), sql.startOf(prefix), sql.endOf(prefix)];
      return db.rows<Pick<Agent, 'agentId' | 'name'>>(sql.NAMES_BY_NAME, values, options);
    },

    /**
     * Changes it while nobody else does. `change` returns the same agent to leave it as it is. An environment that
     * is new to it has to be there.
     */
    async change(owner: string, agentId: string, change: (agent: Agent) => Agent, options?: WriteOptions) {
      return db.transaction(async (tx) => {
        const before = await lock(tx, owner, agentId);
        const after = change(before);
        const { environmentId } = after.runtime;
        if (environmentId !== before.runtime.environmentId) await requireEnvironment(tx, environmentId);
        if (after.version !== before.version) await insertVersion(tx, after);
        if (after !== before) await tx.change(sql.UPDATE, updateValues(after));
        return { before, after };
      }, options);
    },

    /** Whether it was there. */
    async delete(owner: string, agentId: string, now: Date, options?: WriteOptions): Promise<boolean> {
      if (!isId(prefix, agentId)) return false;
      return (await db.change(sql.DELETE, [owner, agentId, now, kind.hasWorkspace], options)) > 0;
    },

    async versions(
      owner: string,
      agentId: string,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<PageOf<AgentVersion>> {
      const scope = ['ListAgentVersions', owner, agentId];
      const after = placeIn(scope, page, isVersionNumber) ?? END_OF_VERSIONS;
      const values = [owner, agentId, after, page.limit, PAGE_BYTES];
      const rows = await db.rows<VersionRow & PageRow>(sql.VERSIONS, values, options);
      return {
        items: rows.map(versionOf),
        nextCursor: nextCursor(rows, scope, (row) => String(row.version)),
      };
    },

    /** A version of whoever's, deleted or not, unless an owner is named. */
    async version(owner: string | undefined, agentId: string, version: number, options?: ReadOptions) {
      if (!isId(prefix, agentId)) return undefined;
      const [row] = await db.rows<VersionRow>(sql.VERSION, [agentId, version, owner ?? null], options);
      return row && versionOf(row);
    },

    /** The newest version of whoever's, as long as it is there, unless an owner is named. */
    async runtime(owner: string | undefined, agentId: string, options?: ReadOptions) {
      if (!isId(prefix, agentId)) return undefined;
      const [row] = await db.rows<VersionRow>(sql.RUNTIME, [agentId, owner ?? null], options);
      return row && versionOf(row);
    },
  };
}

async function insertVersion(tx: Session, agent: Agent): Promise<void> {
  await tx.change(sql.INSERT_VERSION, versionValues(agent));
}
