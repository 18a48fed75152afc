import { decodeCursor, pageOf, type RowPage } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
} from '../../../lib/db/database.ts';
import type { EnvironmentStatus } from '../domain/environment.ts';
import { type Columns, columnNames, columnTable } from './columns.ts';
import type { PageRequest } from './lists.ts';

export interface SandboxRow {
  sandbox_id: string;
  provider: string;
  isolation: string;
  status: EnvironmentStatus;
  reason: string;
  tenancy: string;
  tenant_id: string;
  owner_id: string;
  runner_id: string;
  environment_id: string;
  environment_version: number;
  limits: string;
  created_at: Date;
  updated_at: Date;
  end_reason: string | null;
  ended_at: Date | null;
}

const COLUMNS = `sandbox_id, provider, isolation, status, reason, tenancy, tenant_id, owner_id, runner_id, environment_id,
  environment_version, limits, created_at, updated_at, end_reason, ended_at`;

const BY_ID = statement('sessions.sandbox', `select ${COLUMNS} from sandboxes where sandbox_id = $1`);
const BY_ID_LOCKED = statement(
  'sessions.lock_sandbox',
  `select ${COLUMNS} from sandboxes where sandbox_id = $1 for update`,
);
const INSERT = statement(
  'sessions.insert_sandbox',
  `insert into sandboxes (sandbox_id, provider, isolation, status, tenancy, tenant_id, owner_id, runner_id,
     environment_id, environment_version, limits, created_at, updated_at, seen_at)
   values ($1, $2, $3, 'provisioning', $4, $5, $6, $7, $8, $9, $10, $11, $11, $11)
   on conflict (sandbox_id) do nothing`,
);
/** A sandbox that sessions of an agent share exists once per runner. Any other exists once over all runners. */
const SUPERSEDE = statement(
  'sessions.supersede_sandboxes',
  `update sandboxes set status = 'released', reason = 'replaced', ended_at = $4, updated_at = $4
   where tenant_id = $1 and owner_id = $5 and ended_at is null and sandbox_id <> $2
     and (tenancy <> 'agent' or runner_id = $3)`,
);
/** The status of a sandbox as its runner reports it. */
export interface SandboxStatusReport {
  sandboxId: string;
  status: string;
  reason: string;
}

const REPORT = {
  sandbox_id: ['text', ({ sandboxId }) => sandboxId],
  status: ['text', ({ status }) => status],
  reason: ['text', ({ reason }) => reason],
} satisfies Columns<SandboxStatusReport>;
const REPORTS = columnTable<SandboxStatusReport, typeof REPORT>(3, REPORT);

const SEEN = statement(
  'sessions.see_sandboxes',
  `update sandboxes s set seen_at = $2, status = i.status, reason = i.reason,
     updated_at = case when s.status = i.status then s.updated_at else $2 end,
     ended_at = case when i.status in ('lost', 'released') then $2 end
   from (${REPORTS.selectForLookups(columnNames(REPORT))}) i
   where s.sandbox_id = i.sandbox_id and s.runner_id = $1 and s.ended_at is null
   returning s.sandbox_id, s.end_reason`,
);
/** Sandboxes of a runner that its report does not name, although an earlier report could have. */
const UNREPORTED = statement(
  'sessions.forgotten_sandboxes',
  `select sandbox_id from sandboxes
   where runner_id = $1 and ended_at is null and seen_at < $2 and not (sandbox_id = any($3::text[]))`,
);
const UNSEEN = statement(
  'sessions.silent_sandboxes',
  'select sandbox_id from sandboxes where ended_at is null and seen_at < $1 order by seen_at limit $2',
);
const LOSE = statement(
  'sessions.lose_sandboxes',
  `update sandboxes set status = 'lost', reason = $3, ended_at = $2, updated_at = $2
   where sandbox_id = any($1::text[]) and ended_at is null`,
);
/** Sessions whose environment status differs from the status of their sandbox. */
const OUTDATED = statement(
  'sessions.straying_environments',
  `select e.session_id, e.sandbox_id
   from unnest($1::text[]) i (sandbox_id)
   join sandboxes s on s.sandbox_id = i.sandbox_id
   join session_environments e on e.sandbox_id = i.sandbox_id and e.status <> s.status`,
);
const REQUEST_END = statement(
  'sessions.end_sandbox',
  `update sandboxes set end_reason = coalesce(end_reason, $2), updated_at = $3
   where sandbox_id = $1 and ended_at is null`,
);
const END_OF_TENANT = statement(
  'sessions.end_sandbox_of_tenant',
  `update sandboxes set end_reason = coalesce(end_reason, $2), updated_at = $3
   where tenant_id = $1 and ended_at is null`,
);
const ACTIVE = statement(
  'sessions.list_sandboxes',
  `select ${COLUMNS} from sandboxes where sandbox_id < $1 and ended_at is null order by sandbox_id desc limit $2`,
);
const ENDED = statement(
  'sessions.list_ended_sandboxes',
  `select ${COLUMNS} from sandboxes where sandbox_id < $1 and ended_at is not null order by sandbox_id desc limit $2`,
);
const ALL = statement(
  'sessions.list_all_sandboxes',
  `select ${COLUMNS} from sandboxes where sandbox_id < $1 order by sandbox_id desc limit $2`,
);
const FORGET = statement(
  'sessions.forget_sandboxes',
  `delete from sandboxes where sandbox_id in (
     select sandbox_id from sandboxes where ended_at < $1 order by ended_at limit 100
   )`,
);

interface NewSandbox {
  sandboxId: string;
  provider: string;
  isolation: string;
  tenancy: string;
  tenantId: string;
  ownerId: string;
  runnerId: string;
  environmentId: string;
  environmentVersion: number;
  limitsJson: string;
}

/** Sorts after every sandbox id. */
const END = '~';
const LISTS = { '': ACTIVE, ended: ENDED, all: ALL };
type SandboxFilter = keyof typeof LISTS;

export function isSandboxFilter(text: string): text is SandboxFilter {
  return Object.hasOwn(LISTS, text);
}

export type SandboxStore = ReturnType<typeof createSandboxStore>;

/** Stores sandboxes and their status. */
export function createSandboxStore(db: Database) {
  return {
    async lock(tx: DatabaseSession, sandboxId: string): Promise<SandboxRow | undefined> {
      const [row] = await tx.rows<SandboxRow>(BY_ID_LOCKED, [sandboxId]);
      return row;
    },

    /**
     * Inserts a new sandbox, which replaces the earlier one of its tenant. Returns false when a session that shares the
     * sandbox has inserted it first.
     */
    async insert(tx: DatabaseSession, sandbox: NewSandbox, now: Date): Promise<boolean> {
      await tx.change(SUPERSEDE, [
        sandbox.tenantId,
        sandbox.sandboxId,
        sandbox.runnerId,
        now,
        sandbox.ownerId,
      ]);
      const inserted = await tx.change(INSERT, [
        sandbox.sandboxId,
        sandbox.provider,
        sandbox.isolation,
        sandbox.tenancy,
        sandbox.tenantId,
        sandbox.ownerId,
        sandbox.runnerId,
        sandbox.environmentId,
        sandbox.environmentVersion,
        sandbox.limitsJson,
        now,
      ]);
      return inserted > 0;
    },

    async sandbox(sandboxId: string, options?: ReadOptions): Promise<SandboxRow | undefined> {
      const [row] = await db.rows<SandboxRow>(BY_ID, [sandboxId], options);
      return row;
    },

    async list(
      filter: SandboxFilter,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<RowPage<SandboxRow>> {
      const scope = ['sandboxes', filter];
      const before = decodeCursor(scope, page.cursor) ?? END;
      const rows = await db.rows<SandboxRow>(LISTS[filter], [before, page.limit + 1], options);
      return pageOf(rows, page.limit, scope, (row) => row.sandbox_id);
    },

    /**
     * Records the reported status of a runner's sandboxes. Returns those that exist and have not ended, each with the
     * reason why the runner is to end it, or null.
     */
    async recordStatuses(
      runnerId: string,
      reports: readonly SandboxStatusReport[],
      now: Date,
    ): Promise<Map<string, string | null>> {
      const values = REPORTS.values(reports);
      const rows = await db.rows<{ sandbox_id: string; end_reason: string | null }>(SEEN, [
        runnerId,
        now,
        ...values,
      ]);
      return new Map(rows.map((row) => [row.sandbox_id, row.end_reason]));
    },

    async unreportedOf(runnerId: string, seenBefore: Date, reported: readonly string[]): Promise<string[]> {
      const rows = await db.rows<{ sandbox_id: string }>(UNREPORTED, [runnerId, seenBefore, reported]);
      return rows.map((row) => row.sandbox_id);
    },

    /** Sandboxes whose runner has not reported them since `seenBefore`. */
    async unseen(seenBefore: Date, limit: number): Promise<string[]> {
      const rows = await db.rows<{ sandbox_id: string }>(UNSEEN, [seenBefore, limit]);
      return rows.map((row) => row.sandbox_id);
    },

    async markLost(sandboxIds: readonly string[], reason: string, now: Date): Promise<void> {
      await db.change(LOSE, [sandboxIds, now, reason]);
    },

    /** Sessions whose environment status differs from that of one of these sandboxes. */
    async outdatedEnvironments(
      sandboxIds: readonly string[],
    ): Promise<{ sessionId: string; sandboxId: string }[]> {
      const rows = await db.rows<{ session_id: string; sandbox_id: string }>(OUTDATED, [sandboxIds]);
      return rows.map((row) => ({ sessionId: row.session_id, sandboxId: row.sandbox_id }));
    },

    async requestEnd(sandboxId: string, reason: string, now: Date): Promise<void> {
      await db.change(REQUEST_END, [sandboxId, reason, now]);
    },

    /** Requests the end of a session's sandboxes in the transaction that deletes the session. */
    async requestEndForTenant(
      tx: DatabaseSession,
      tenantId: string,
      reason: string,
      now: Date,
    ): Promise<void> {
      await tx.change(END_OF_TENANT, [tenantId, reason, now]);
    },

    /** Deletes up to 100 sandboxes that ended before this time. */
    async deleteEnded(endedBefore: Date): Promise<void> {
      await db.change(FORGET, [endedBefore]);
    },
  };
}
