import { decodeCursor, type Page, pageOf } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, type Session, statement } from '../../../lib/db/database.ts';
import type { EnvironmentStatus } from '../domain/environment.ts';
import { columns } from './columns.ts';
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

/** Where the commands of a session run, and how far its journal tells of its files. */
export interface EnvironmentRow {
  status: EnvironmentStatus;
  sandbox_id: string | null;
  files_seq: number;
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
   values ($1, $2, $3, 'provisioning', $4, $5, $6, $7, $8, $9, $10, $11, $11, $11)`,
);
/** A runner has one of its own for sessions that share one; otherwise there is one, wherever it is. */
const SUPERSEDE = statement(
  'sessions.supersede_sandboxes',
  `update sandboxes set status = 'released', reason = 'replaced', ended_at = $4, updated_at = $4
   where tenant_id = $1 and owner_id = $5 and ended_at is null and sandbox_id <> $2
     and (tenancy <> 'agent' or runner_id = $3)`,
);
const SEEN = statement(
  'sessions.see_sandboxes',
  `update sandboxes s set seen_at = $2, status = i.status, reason = i.reason,
     updated_at = case when s.status = i.status then s.updated_at else $2 end,
     ended_at = case when i.status in ('lost', 'released') then $2 end
   from (select unnest($3::text[]) as sandbox_id, unnest($4::text[]) as status, unnest($5::text[]) as reason) i
   where s.sandbox_id = i.sandbox_id and s.runner_id = $1 and s.ended_at is null
   returning s.sandbox_id, s.end_reason`,
);
/** Those that a runner no longer speaks of, though it had the time. */
const FORGOTTEN = statement(
  'sessions.forgotten_sandboxes',
  `select sandbox_id from sandboxes
   where runner_id = $1 and ended_at is null and seen_at < $2 and not (sandbox_id = any($3::text[]))`,
);
const SILENT = statement(
  'sessions.silent_sandboxes',
  'select sandbox_id from sandboxes where ended_at is null and seen_at < $1 order by seen_at limit $2',
);
const LOSE = statement(
  'sessions.lose_sandboxes',
  `update sandboxes set status = 'lost', reason = $3, ended_at = $2, updated_at = $2
   where sandbox_id = any($1::text[]) and ended_at is null`,
);
/** Sessions that say otherwise of a sandbox than it is. */
const STRAYING = statement(
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
const THERE = statement(
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

const ENVIRONMENT = statement(
  'sessions.environment',
  'select status, sandbox_id, files_seq from session_environments where session_id = $1',
);
const SET_ENVIRONMENT = statement(
  'sessions.set_environment',
  `insert into session_environments (session_id, status, sandbox_id, provider) values ($1, $2, $3, $4)
   on conflict (session_id) do update set status = $2, sandbox_id = $3, provider = $4`,
);
const SET_STATUS = statement(
  'sessions.set_environment_status',
  'update session_environments set status = $2 where session_id = $1',
);
const SET_FILES_SEQ = statement(
  'sessions.set_files_seq',
  `insert into session_environments (session_id, files_seq) values ($1, $2)
   on conflict (session_id) do update set files_seq = $2`,
);

const NOWHERE: EnvironmentRow = { status: 'none', sandbox_id: null, files_seq: 0 };

/** Where a session's commands run, under the lock of its head. */
export const environments = {
  async read(tx: Session, sessionId: string): Promise<EnvironmentRow> {
    const [row] = await tx.rows<EnvironmentRow>(ENVIRONMENT, [sessionId]);
    return row ?? NOWHERE;
  },
  async put(
    tx: Session,
    sessionId: string,
    status: EnvironmentStatus,
    { sandboxId, provider }: { sandboxId: string; provider: string },
  ): Promise<void> {
    await tx.change(SET_ENVIRONMENT, [sessionId, status, sandboxId, provider]);
  },
  async setStatus(tx: Session, sessionId: string, status: EnvironmentStatus): Promise<void> {
    await tx.change(SET_STATUS, [sessionId, status]);
  },
  async setFilesSeq(tx: Session, sessionId: string, seq: number): Promise<void> {
    await tx.change(SET_FILES_SEQ, [sessionId, seq]);
  },
};

export interface NewSandbox {
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

/** What a runner says of one of its sandboxes. */
export interface Sighting {
  sandboxId: string;
  status: string;
  reason: string;
}

/** After every id. */
const END = '~';
const LISTS = { '': THERE, ended: ENDED, all: ALL };
export type SandboxFilter = keyof typeof LISTS;

export function isSandboxFilter(text: string): text is SandboxFilter {
  return Object.hasOwn(LISTS, text);
}

export type Sandboxes = ReturnType<typeof createSandboxes>;

/** Which sandboxes there are, and how they are doing. */
export function createSandboxes(db: Database) {
  return {
    async locked(tx: Session, sandboxId: string): Promise<SandboxRow | undefined> {
      const [row] = await tx.rows<SandboxRow>(BY_ID_LOCKED, [sandboxId]);
      return row;
    },

    /** Puts a new one in the place of whatever its sessions had before. */
    async insert(tx: Session, made: NewSandbox, now: Date): Promise<void> {
      await tx.change(SUPERSEDE, [made.tenantId, made.sandboxId, made.runnerId, now, made.ownerId]);
      await tx.change(INSERT, [
        made.sandboxId,
        made.provider,
        made.isolation,
        made.tenancy,
        made.tenantId,
        made.ownerId,
        made.runnerId,
        made.environmentId,
        made.environmentVersion,
        made.limitsJson,
        now,
      ]);
    },

    async sandbox(sandboxId: string, options?: ReadOptions): Promise<SandboxRow | undefined> {
      const [row] = await db.rows<SandboxRow>(BY_ID, [sandboxId], options);
      return row;
    },

    async list(filter: SandboxFilter, page: PageRequest, options?: ReadOptions): Promise<Page<SandboxRow>> {
      const scope = ['sandboxes', filter];
      const before = decodeCursor(scope, page.cursor) ?? END;
      const rows = await db.rows<SandboxRow>(LISTS[filter], [before, page.limit + 1], options);
      return pageOf(rows, page.limit, scope, (row) => row.sandbox_id);
    },

    /** Notes what a runner says. Returns those that it has, each with the reason for which it is to end, if any. */
    async see(
      runnerId: string,
      sightings: readonly Sighting[],
      now: Date,
    ): Promise<Map<string, string | null>> {
      const values = columns(sightings, ({ sandboxId, status, reason }) => [sandboxId, status, reason], 3);
      const rows = await db.rows<{ sandbox_id: string; end_reason: string | null }>(SEEN, [
        runnerId,
        now,
        ...values,
      ]);
      return new Map(rows.map((row) => [row.sandbox_id, row.end_reason]));
    },

    async forgotten(runnerId: string, seenBefore: Date, known: readonly string[]): Promise<string[]> {
      const rows = await db.rows<{ sandbox_id: string }>(FORGOTTEN, [runnerId, seenBefore, known]);
      return rows.map((row) => row.sandbox_id);
    },

    /** Those of runners that say nothing any more. */
    async silent(seenBefore: Date, limit: number): Promise<string[]> {
      const rows = await db.rows<{ sandbox_id: string }>(SILENT, [seenBefore, limit]);
      return rows.map((row) => row.sandbox_id);
    },

    async lose(sandboxIds: readonly string[], reason: string, now: Date): Promise<void> {
      await db.change(LOSE, [sandboxIds, now, reason]);
    },

    /** Sessions that do not know yet how one of these sandboxes is doing. */
    async straying(sandboxIds: readonly string[]): Promise<{ sessionId: string; sandboxId: string }[]> {
      const rows = await db.rows<{ session_id: string; sandbox_id: string }>(STRAYING, [sandboxIds]);
      return rows.map((row) => ({ sessionId: row.session_id, sandboxId: row.sandbox_id }));
    },

    async requestEnd(sandboxId: string, reason: string, now: Date): Promise<void> {
      await db.change(REQUEST_END, [sandboxId, reason, now]);
    },

    /** That of a session, in the transaction that deletes it. */
    async endOf(tx: Session, tenantId: string, reason: string, now: Date): Promise<void> {
      await tx.change(END_OF_TENANT, [tenantId, reason, now]);
    },

    /** Ended ones are history for a while. */
    async forget(endedBefore: Date): Promise<void> {
      await db.change(FORGET, [endedBefore]);
    },
  };
}
