import type { Database, ReadOptions, Session, WriteOptions } from '../../lib/db/database.ts';
import { once } from '../../lib/db/idempotency.ts';
import { likePattern } from '../../lib/db/like.ts';
import { isId } from '../../lib/ids.ts';
import { type Access, type AccessVersion, type Level, requireLevel, type Viewer } from './domain/access.ts';
import type { Kind } from './domain/kind.ts';
import type { Agent, AgentVersion, Seen, Standing } from './domain.ts';
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
 * Agents, or assistants: whatever the kind says. Where a viewer is named, what they may not see is not there; to change
 * one they have to manage it, and are refused with FORBIDDEN otherwise.
 */
export function createAgentStore(db: Database, kind: Kind) {
  const { prefix } = kind;

  /** One that the viewer manages, for as long as the transaction lasts. */
  async function lock(tx: Session, viewer: Viewer, agentId: string): Promise<Seen> {
    if (!isId(prefix, agentId)) throw kind.notFound();
    const locked = await tx.rows(sql.LOCK, [agentId]);
    const [row] = await tx.rows<AgentRow>(sql.BY_ID, [...sql.viewerValues(viewer), agentId]);
    if (!row) throw kind.notFound();
    requireLevel(row.level, 'manage', kind);
    // Who does not manage it cannot hold it: they manage it since a moment ago.
    if (locked.length === 0) throw kind.notFound();
    return agentOf(row);
  }

  async function find(viewer: Viewer, agentId: string, options?: ReadOptions): Promise<Seen | undefined> {
    if (!isId(prefix, agentId)) return undefined;
    const by = onBehalf(viewer, options);
    const [row] = await db.rows<AgentRow>(sql.BY_ID, [...sql.viewerValues(viewer), agentId], by);
    return row && agentOf(row);
  }

  async function accessOf(tx: Pick<Session, 'rows'>, { agentId, visibility }: Agent): Promise<AccessVersion> {
    const rows = await tx.rows<AccessRow>(sql.ACCESS, [agentId]);
    const named = (role: string) => rows.filter((row) => row.role === role).map(({ principal }) => principal);
    const isGroup = (name: string) => name.startsWith(sql.groupName(''));
    const users = named('user');
    const access = {
      visibility,
      managers: named('manager'),
      users: users.filter((name) => !isGroup(name)),
      groups: users.filter(isGroup).map((name) => name.slice(sql.groupName('').length)),
    };
    return { access, version: rows[0]?.version ?? 0 };
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
        { ...options, viewer: { userId: agent.createdBy } },
      );
    },

    agent: find,

    /** Undefined: for them it is not there. */
    async level(viewer: Viewer, agentId: string, options?: ReadOptions): Promise<Level | undefined> {
      if (!isId(prefix, agentId)) return undefined;
      const values = [...sql.viewerValues(viewer), agentId];
      const [row] = await db.rows<{ level: Level | null }>(sql.LEVEL_OF, values, onBehalf(viewer, options));
      return row?.level ?? undefined;
    },

    /** All that a start needs to know. */
    async standing(viewer: Viewer, agentId: string, options?: ReadOptions): Promise<Standing | undefined> {
      if (!isId(prefix, agentId)) return undefined;
      const by = onBehalf(viewer, options);
      const [row] = await db.rows<Standing>(sql.STANDING, [...sql.viewerValues(viewer), agentId], by);
      return row;
    },

    async list(viewer: Viewer, q: string, page: PageRequest, options?: ReadOptions): Promise<PageOf<Seen>> {
      const scope = [kind.list, viewer.userId, q];
      const after = placeIn(scope, page, (key) => isId(prefix, key)) ?? sql.endOf(prefix);
      const chosen = [after, likePattern(q), q, page.limit, PAGE_BYTES, sql.startOf(prefix)];
      const statement = viewer.isAdministrator ? sql.LIST_ALL : sql.LIST;
      const values = [...sql.viewerValues(viewer), ...chosen];
      const rows = await db.rows<AgentRow & PageRow>(statement, values, onBehalf(viewer, options));
      return { items: rows.map(agentOf), nextCursor: nextCursor(rows, scope, (row) => row.agentId) };
    },

    /** By id those that they see, by name those that they manage; at most 1,000. */
    async names(viewer: Viewer, ids: string[], name: string, options?: ReadOptions) {
      const values = sql.viewerValues(viewer);
      const [statement, asked] =
        name === ''
          ? [sql.NAMES_BY_ID, [ids.filter((id) => isId(prefix, id))]]
          : [sql.NAMES_BY_NAME, [likePattern(name), sql.startOf(prefix), sql.endOf(prefix)]];
      const by = onBehalf(viewer, options);
      return db.rows<Pick<Agent, 'agentId' | 'name'>>(statement, [...values, ...asked], by);
    },

    /** Those that they manage; at most 10,000. */
    async managed(viewer: Viewer, options?: ReadOptions): Promise<string[]> {
      const values = [...sql.viewerValues(viewer), sql.startOf(prefix), sql.endOf(prefix)];
      const by = onBehalf(viewer, options);
      const rows = await db.rows<Pick<Agent, 'agentId'>>(sql.MANAGED_IDS, values, by);
      return rows.map(({ agentId }) => agentId);
    },

    /**
     * Changes it while nobody else does. `change` returns the same agent to leave it as it is. An environment that
     * is new to it has to be there.
     */
    async change(viewer: Viewer, agentId: string, change: (agent: Seen) => Seen, options?: WriteOptions) {
      return db.transaction(
        async (tx) => {
          const before = await lock(tx, viewer, agentId);
          const after = change(before);
          const { environmentId } = after.runtime;
          if (environmentId !== before.runtime.environmentId) await requireEnvironment(tx, environmentId);
          if (after.version !== before.version) await insertVersion(tx, after, viewer);
          if (after !== before) await tx.change(sql.UPDATE, updateValues(after));
          return { before, after };
        },
        onBehalf(viewer, options),
      );
    },

    async delete(viewer: Viewer, agentId: string, now: Date, options?: WriteOptions): Promise<void> {
      await db.transaction(
        async (tx) => {
          await lock(tx, viewer, agentId);
          await tx.change(sql.DELETE, [agentId, now, kind.hasWorkspace]);
        },
        onBehalf(viewer, options),
      );
    },

    async access(viewer: Viewer, agentId: string, options?: ReadOptions): Promise<AccessVersion> {
      const agent = await find(viewer, agentId, options);
      if (!agent) throw kind.notFound();
      requireLevel(agent.level, 'manage', kind);
      return accessOf(db, agent);
    },

    /**
     * Replaces all of it, as the service: what others have been given only it sees. `change` is given what it was, while
     * nobody else changes it. Returns what it is now.
     */
    async changeAccess(
      viewer: Viewer,
      agentId: string,
      change: (before: AccessVersion) => Access,
      now: Date,
      options?: WriteOptions,
    ): Promise<AccessVersion> {
      return db.transaction(async (tx) => {
        const agent = await lock(tx, viewer, agentId);
        const { visibility, managers, users, groups } = change(await accessOf(tx, agent));
        const named = [...users, ...groups.map(sql.groupName)];
        const roles = [...managers.map(() => 'manager'), ...named.map(() => 'user')];
        await tx.change(sql.CLEAR_ACCESS, [agentId]);
        await tx.change(sql.INSERT_ACCESS, [agentId, roles, [...managers, ...named]]);
        const after = { ...agent, visibility, updatedAt: now };
        await tx.change(sql.UPDATE, updateValues(after));
        await tx.change(sql.COUNT_ACCESS, [agentId]);
        return accessOf(tx, after);
      }, options);
    },

    async versions(
      viewer: Viewer,
      agentId: string,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<PageOf<AgentVersion>> {
      const scope = ['ListAgentVersions', viewer.userId, agentId];
      const after = placeIn(scope, page, isVersionNumber) ?? END_OF_VERSIONS;
      const values = [...sql.viewerValues(viewer), agentId, after, page.limit, PAGE_BYTES];
      const rows = await db.rows<VersionRow & PageRow>(sql.VERSIONS, values, onBehalf(viewer, options));
      return {
        items: rows.map(versionOf),
        nextCursor: nextCursor(rows, scope, (row) => String(row.version)),
      };
    },

    /** A version of whoever's, deleted or not. */
    async version(agentId: string, version: number, options?: ReadOptions) {
      if (!isId(prefix, agentId)) return undefined;
      const [row] = await db.rows<VersionRow>(sql.VERSION, [agentId, version], options);
      return row && versionOf(row);
    },

    /** The newest version of whoever's, as long as it is there. */
    async runtime(agentId: string, options?: ReadOptions) {
      if (!isId(prefix, agentId)) return undefined;
      const [row] = await db.rows<VersionRow>(sql.RUNTIME, [agentId], options);
      return row && versionOf(row);
    },
  };
}

interface AccessRow {
  version: number;
  /** Empty where nobody is named. */
  role: string;
  principal: string;
}

async function insertVersion(tx: Session, agent: Agent, by?: Viewer): Promise<void> {
  await tx.change(sql.INSERT_VERSION, versionValues(agent, by?.userId ?? agent.createdBy));
}

/** Administrators reach more than is theirs, and are let in by the level that each statement asks for. */
function onBehalf(
  { userId, groups, isAdministrator }: Viewer,
  options?: ReadOptions,
): ReadOptions | undefined {
  if (isAdministrator) return options;
  return { ...options, viewer: { userId, names: groups.map(sql.groupName) } };
}
