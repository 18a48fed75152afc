import type { Database, DatabaseSession, ReadOptions, WriteOptions } from '../../../lib/db/database.ts';
import { runOnce } from '../../../lib/db/idempotency.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { isId } from '../../../lib/ids.ts';
import {
  type AccessLevel,
  type AgentAccess,
  type AgentViewer,
  requireLevel,
  type VersionedAccess,
} from '../domain/access.ts';
import type { Agent, AgentWithLevel, PublicCard, StartConditions } from '../domain/agent.ts';
import type { AgentKind } from '../domain/agent-kind.ts';
import { accessOf } from './agent-access.ts';
import * as sql from './agent-statements.ts';
import { versionQueries } from './agent-versions.ts';
import { requireEnvironment } from './environments.ts';
import type { IdempotentCreation } from './idempotent-creation.ts';
import { requireMcpServers, requireToolServers } from './mcp-server-use.ts';
import {
  decodePosition,
  nextCursor,
  PAGE_BYTES,
  type PageOf,
  type PageRequest,
  type PageRow,
} from './paging.ts';
import { type AgentRow, agentFromRow, insertValues, updateValues, versionValues } from './rows.ts';
import { requireSkills } from './skill-extensions.ts';
import { viewerOptions } from './viewer-options.ts';

export type AgentStore = ReturnType<typeof createAgentStore>;

/**
 * Stores agents or assistants, depending on the kind. Methods with a viewer treat an agent that the viewer cannot see
 * as absent. Changes require the level `manage` and are otherwise refused with FORBIDDEN.
 */
export function createAgentStore(db: Database, kind: AgentKind, { mcpMaxTools }: AgentLimits) {
  const { prefix } = kind;

  /** Locks an agent that the viewer manages until the transaction ends. */
  async function lock(tx: DatabaseSession, viewer: AgentViewer, agentId: string): Promise<AgentWithLevel> {
    if (!isId(prefix, agentId)) throw kind.notFound();
    const locked = await tx.rows(sql.LOCK, [agentId]);
    const [row] = await tx.rows<AgentRow>(sql.BY_ID, [...sql.viewerValues(viewer), agentId]);
    if (!row) throw kind.notFound();
    requireLevel(row.level, 'manage', kind);
    // Row-level security hides rows from a lock that the viewer does not manage. The row became visible after the lock.
    if (locked.length === 0) throw kind.notFound();
    return agentFromRow(row);
  }

  async function find(
    viewer: AgentViewer,
    agentId: string,
    options?: ReadOptions,
  ): Promise<AgentWithLevel | undefined> {
    if (!isId(prefix, agentId)) return undefined;
    const by = viewerOptions(viewer, options);
    const [row] = await db.rows<AgentRow>(sql.BY_ID, [...sql.viewerValues(viewer), agentId], by);
    return row && agentFromRow(row);
  }

  return {
    kind,

    /**
     * Creates an agent, or returns the answer of an earlier request with the same key. Refused with INVALID_REQUEST for
     * an unknown environment or MCP server.
     */
    create(agent: Agent, { key, request, answer }: IdempotentCreation, options?: WriteOptions) {
      return runOnce(
        db,
        { caller: agent.createdBy, key, method: kind.createMethod, request, now: agent.createdAt },
        async (tx) => {
          await requireEnvironment(tx, agent.runtime.environmentId);
          await requireToolServers(tx, agent.runtime);
          await tx.change(sql.INSERT, insertValues(agent));
          await insertVersion(tx, agent);
          return answer;
        },
        { ...options, viewer: { userId: agent.createdBy } },
      );
    },

    agent: find,

    /** What anyone can read of an agent whose card is public. */
    async publicCard(agentId: string, options?: ReadOptions): Promise<PublicCard | undefined> {
      if (!isId(prefix, agentId)) return undefined;
      const [row] = await db.rows<PublicCard>(sql.PUBLIC_CARD, [agentId], options);
      return row;
    },

    /** The viewer's level; undefined if they cannot see the agent. */
    async level(
      viewer: AgentViewer,
      agentId: string,
      options?: ReadOptions,
    ): Promise<AccessLevel | undefined> {
      if (!isId(prefix, agentId)) return undefined;
      const values = [...sql.viewerValues(viewer), agentId];
      const [row] = await db.rows<{ level: AccessLevel | null }>(
        sql.LEVEL_OF,
        values,
        viewerOptions(viewer, options),
      );
      return row?.level ?? undefined;
    },

    /** The facts that decide whether a session can start. */
    async startConditions(
      viewer: AgentViewer,
      agentId: string,
      options?: ReadOptions,
    ): Promise<StartConditions | undefined> {
      if (!isId(prefix, agentId)) return undefined;
      const by = viewerOptions(viewer, options);
      const [row] = await db.rows<StartConditions>(
        sql.START_CONDITIONS,
        [...sql.viewerValues(viewer), agentId],
        by,
      );
      return row;
    },

    async list(
      viewer: AgentViewer,
      { q, metadata, createdAfter, createdBefore, exposedTo }: AgentFilter,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<PageOf<AgentWithLevel>> {
      const members = metadata.length === 0 ? null : JSON.stringify(objectOf(metadata));
      const filters = [members, createdAfter ?? null, createdBefore ?? null, exposedTo ?? null];
      const narrowing = filters.map((filter) =>
        filter instanceof Date ? filter.toISOString() : (filter ?? ''),
      );
      const isNarrowed = narrowing.some((text) => text !== '');
      const scope = [kind.listMethod, viewer.userId, q, ...(isNarrowed ? narrowing : [])];
      const after = decodePosition(scope, page, (key) => isId(prefix, key)) ?? sql.endOf(prefix);
      const chosen = [after, likePattern(q), q, page.limit, PAGE_BYTES, sql.startOf(prefix), ...filters];
      const statement = viewer.isAdministrator ? sql.LIST_ALL : sql.LIST;
      const values = [...sql.viewerValues(viewer), ...chosen];
      const rows = await db.rows<AgentRow & PageRow>(statement, values, viewerOptions(viewer, options));
      return { items: rows.map(agentFromRow), nextCursor: nextCursor(rows, scope, (row) => row.agentId) };
    },

    /** Names of visible agents by id, or of managed agents by a part of their name; at most 1,000. */
    async names(viewer: AgentViewer, ids: string[], name: string, options?: ReadOptions) {
      const values = sql.viewerValues(viewer);
      const [statement, search] =
        name === ''
          ? [sql.NAMES_BY_ID, [ids.filter((id) => isId(prefix, id))]]
          : [sql.NAMES_BY_NAME, [likePattern(name), sql.startOf(prefix), sql.endOf(prefix)]];
      const by = viewerOptions(viewer, options);
      return db.rows<Pick<Agent, 'agentId' | 'name'>>(statement, [...values, ...search], by);
    },

    /** Ids of the agents that the viewer manages; at most 10,000. */
    async managed(viewer: AgentViewer, options?: ReadOptions): Promise<string[]> {
      const values = [...sql.viewerValues(viewer), sql.startOf(prefix), sql.endOf(prefix)];
      const by = viewerOptions(viewer, options);
      const rows = await db.rows<Pick<Agent, 'agentId'>>(sql.MANAGED_IDS, values, by);
      return rows.map(({ agentId }) => agentId);
    },

    /**
     * Changes a locked agent. `change` returns the same object to leave it unchanged. Refused with INVALID_REQUEST for a
     * new environment that does not exist, and as `requireMcpServers` and `requireSkills` describe.
     */
    async change(
      viewer: AgentViewer,
      agentId: string,
      change: (agent: AgentWithLevel) => AgentWithLevel,
      options?: WriteOptions,
    ) {
      return db.transaction(
        async (tx) => {
          const before = await lock(tx, viewer, agentId);
          const after = change(before);
          const { environmentId } = after.runtime;
          if (environmentId !== before.runtime.environmentId) await requireEnvironment(tx, environmentId);
          const runtimes = { before: before.runtime, after: after.runtime };
          await requireToolServers(tx, after.runtime, before.runtime);
          await requireMcpServers(tx, runtimes, viewer, mcpMaxTools);
          await requireSkills(tx, runtimes);
          if (after.version !== before.version) await insertVersion(tx, after, viewer);
          if (after === before) return { before, after };
          const [updated] = await tx.rows<Pick<Agent, 'revision'>>(sql.UPDATE, updateValues(after));
          return { before, after: { ...after, ...updated } };
        },
        viewerOptions(viewer, options),
      );
    },

    /** Deletes a locked agent, unless `check` refuses it. */
    async delete(
      viewer: AgentViewer,
      agentId: string,
      check: (agent: AgentWithLevel) => void,
      now: Date,
      options?: WriteOptions,
    ): Promise<void> {
      await db.transaction(
        async (tx) => {
          check(await lock(tx, viewer, agentId));
          await tx.change(sql.DELETE, [agentId, now, kind.hasWorkspace]);
        },
        viewerOptions(viewer, options),
      );
    },

    async access(viewer: AgentViewer, agentId: string, options?: ReadOptions): Promise<VersionedAccess> {
      const agent = await find(viewer, agentId, options);
      if (!agent) throw kind.notFound();
      requireLevel(agent.level, 'manage', kind);
      return accessOf(db, agent);
    },

    /**
     * Replaces the access list, as the service, because users cannot read the access rows of other users. `change` gets
     * the list of the locked agent. Returns the new list.
     */
    async changeAccess(
      viewer: AgentViewer,
      agentId: string,
      change: (before: VersionedAccess) => AgentAccess,
      now: Date,
      options?: WriteOptions,
    ): Promise<VersionedAccess> {
      return db.transaction(async (tx) => {
        const agent = await lock(tx, viewer, agentId);
        const { visibility, managers, users, groups } = change(await accessOf(tx, agent));
        const principals = [...users, ...groups.map(sql.groupName)];
        const roles = [...managers.map(() => 'manager'), ...principals.map(() => 'user')];
        await tx.change(sql.CLEAR_ACCESS, [agentId]);
        await tx.change(sql.INSERT_ACCESS, [agentId, roles, [...managers, ...principals]]);
        await tx.change(sql.SHARE, [agentId, visibility, now]);
        return accessOf(tx, { ...agent, visibility });
      }, options);
    },

    ...versionQueries(db, kind),
  };
}

interface AgentLimits {
  /** Tools that the MCP servers of an agent may offer. */
  mcpMaxTools: number;
}

/** Which agents a list returns. */
export interface AgentFilter {
  /** A part of the name or description, or an id; empty for all. */
  q: string;
  /** Those whose metadata has all of these members. */
  metadata: readonly { key: string; value: string }[];
  /** Those that were created after and before these times. */
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** Those that are exposed to this protocol. */
  exposedTo?: string | undefined;
}

const objectOf = (members: AgentFilter['metadata']) =>
  Object.fromEntries(members.map(({ key, value }) => [key, value]));

async function insertVersion(tx: DatabaseSession, agent: Agent, by?: AgentViewer): Promise<void> {
  await tx.change(sql.INSERT_VERSION, versionValues(agent, by?.userId ?? agent.createdBy));
}
