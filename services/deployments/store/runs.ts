import { type CursorScope, decodeIdCursor, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { type IdempotencyKey, runOnce } from '../../../lib/db/idempotency.ts';
import { digestOf, putPrompt } from './prompts.ts';
import { cancelRun } from './run-changes.ts';

/** A row of the run history. */
export interface StoredRun {
  runId: string;
  deploymentId: string;
  trigger: string;
  status: string;
  reason: string | null;
  scheduledFor: Date | null;
  scheduledUntil: Date | null;
  count: number;
  startedAt: Date | null;
  finishedAt: Date | null;
  latenessMs: number | null;
  sessionId: string | null;
  turnId: string | null;
  stopReasonJson: string | null;
  usageJson: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  replayedFromRunId: string | null;
  backfillId: string | null;
  createdBy: string | null;
  createdAt: Date;
}

interface LastRun
  extends Pick<StoredRun, 'deploymentId' | 'runId' | 'status' | 'scheduledFor' | 'sessionId'> {}

/** A run that a user queues. */
interface QueuedRun {
  runId: string;
  deploymentId: string;
  trigger: 'manual' | 'replay';
  /** Undefined: the prompt of the schedule, or of the replayed run. */
  prompt: string | undefined;
  replayedFromRunId: string | null;
  createdBy: string;
  createdAt: Date;
  traceparent: string;
}

/** Empty filters are not applied. */
interface RunPage {
  caller: string;
  deploymentId: string;
  status: string;
  trigger: string;
  from: Date | undefined;
  until: Date | undefined;
  limit: number;
  cursor: string;
}

const COLUMNS = `
  run_id as "runId", deployment_id as "deploymentId", trigger, status, reason, scheduled_for as "scheduledFor",
  scheduled_until as "scheduledUntil", count, started_at as "startedAt", finished_at as "finishedAt",
  lateness_ms as "latenessMs", session_id as "sessionId", turn_id as "turnId", stop_reason as "stopReasonJson",
  usage as "usageJson", error_code as "errorCode", error_message as "errorMessage",
  replayed_from_run_id as "replayedFromRunId", backfill_id as "backfillId", created_by as "createdBy",
  created_at as "createdAt"`;

const FIND = statement('runs.find', `select ${COLUMNS} from runs where deployment_id = $1 and run_id = $2`);

const LIST = statement(
  'runs.list',
  `select ${COLUMNS} from runs
   where deployment_id = $1 and ($2::text is null or run_id < $2) and ($3 = '' or status = $3)
     and ($4 = '' or trigger = $4)
     and ($5::timestamptz is null or coalesce(scheduled_for, created_at) >= $5)
     and ($6::timestamptz is null or coalesce(scheduled_for, created_at) < $6)
   order by run_id desc limit $7`,
);

const LAST = statement(
  'runs.last',
  `select r.run_id as "runId", d.deployment_id as "deploymentId", r.status, r.scheduled_for as "scheduledFor",
     r.session_id as "sessionId"
   from unnest($1::text[]) as d (deployment_id)
   cross join lateral (
     select * from runs where deployment_id = d.deployment_id order by run_id desc limit 1
   ) r`,
);

/** The next run number, and the position behind the queued runs of the schedule. */
const NUMBER = statement(
  'runs.number',
  `update schedules s set run_count = run_count + 1 where deployment_id = $1
   returning owner_id as "ownerId", run_count as number, prompt_digest as "promptDigest",
     (select count(*)::integer from runs r where r.deployment_id = $1 and r.status = 'queued') as position`,
);

const INSERT = statement(
  'runs.insert',
  `insert into runs (run_id, deployment_id, owner_id, slot, trigger, status, scheduled_for, number, prompt_digest,
     ready_at, position, replayed_from_run_id, created_by, created_at, traceparent)
   select $1, $2, $3, $1, $4, 'queued', (select scheduled_for from runs where run_id = $10), $5,
     case when $6::text is null
       then coalesce((select prompt_digest from runs where run_id = $10), $7) else ${digestOf('$6::text')} end,
     $8, $9, $10, $11, $8, $12
   returning ${COLUMNS}`,
);

export type RunStore = ReturnType<typeof createRunStore>;

export function createRunStore(db: Database) {
  return {
    async find(deploymentId: string, runId: string, options?: ReadOptions): Promise<StoredRun | undefined> {
      const [row] = await db.rows<StoredRun>(FIND, [deploymentId, runId], options);
      return row;
    },

    async list(page: RunPage, options?: ReadOptions) {
      const { caller, deploymentId, status, trigger, from, until, limit } = page;
      const range = [from?.toISOString(), until?.toISOString()];
      const scope: CursorScope = ['runs', caller, deploymentId, status, trigger, ...range];
      const before = decodeIdCursor('run', scope, page.cursor) ?? null;
      const values = [deploymentId, before, status, trigger, from ?? null, until ?? null, limit + 1];
      const rows = await db.rows<StoredRun>(LIST, values, options);
      return pageOf(rows, limit, scope, (row) => row.runId);
    },

    /** The newest run of each schedule. */
    async last(deploymentIds: readonly string[], options?: ReadOptions): Promise<LastRun[]> {
      if (deploymentIds.length === 0) return [];
      return db.rows<LastRun>(LAST, [deploymentIds], options);
    },

    /** Queues a run once per caller and Idempotency-Key. `respond` encodes the answer. */
    queue(
      run: QueuedRun,
      key: IdempotencyKey,
      respond: (stored: StoredRun) => Uint8Array,
      { trace, viewer }: WriteOptions,
    ) {
      return runOnce(db, key, async (tx) => respond(await insertRun(tx, run)), { trace, viewer });
    },

    /** Cancels a run that has not started. */
    async cancel(runId: string, now: Date, { trace, viewer }: WriteOptions): Promise<void> {
      await db.transaction((tx) => cancelRun(tx, runId, now), { trace, viewer });
    },
  };
}

async function insertRun(tx: DatabaseSession, run: QueuedRun): Promise<StoredRun> {
  const { runId, deploymentId, trigger, prompt, replayedFromRunId, createdBy, createdAt, traceparent } = run;
  const [schedule] = await tx.rows<{
    ownerId: string;
    number: number;
    promptDigest: Buffer;
    position: number;
  }>(NUMBER, [deploymentId]);
  if (!schedule) throw new Error('the schedule of a new run was deleted');
  if (prompt !== undefined) await putPrompt(tx, deploymentId, prompt);
  const [stored] = await tx.rows<StoredRun>(INSERT, [
    runId,
    deploymentId,
    schedule.ownerId,
    trigger,
    schedule.number,
    prompt ?? null,
    schedule.promptDigest,
    createdAt,
    schedule.position,
    replayedFromRunId,
    createdBy,
    traceparent,
  ]);
  if (!stored) throw new Error('a new run was not stored');
  return stored;
}
