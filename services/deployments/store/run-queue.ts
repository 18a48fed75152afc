import { createBatcher } from '../../../lib/db/batcher.ts';
import { type Database, statement, type WriteOptions } from '../../../lib/db/database.ts';
import type { Overlap } from '../domain/schedules/schedule.ts';

/** A claimed run with the facts that its start needs. */
export interface ClaimedRun {
  runId: string;
  deploymentId: string;
  ownerId: string;
  agentId: string;
  createdAt: Date;
  trigger: string;
  scheduledFor: Date | null;
  number: number;
  cancelsPrevious: boolean;
  backfillId: string | null;
  failingSince: Date | null;
  /** Failed attempts. */
  attempts: number;
  traceparent: string | null;
  /** The prompt with placeholders. */
  prompt: string;
  name: string;
  timezone: string;
  catchUpSeconds: number;
  overlap: Overlap;
  sessionMode: 'new' | 'continue';
  sessionId: string | null;
  sessionIsGiven: boolean;
}

/** The next times at which there is work. */
interface NextTimes {
  dueAt: Date | null;
  readyAt: Date | null;
  /** A run waits for an earlier one. */
  hasWaiting: boolean;
}

/** The runs that one claim can take. */
interface ClaimLimits {
  now: Date;
  leaseUntil: Date;
  slots: number;
  /** The runs of one owner. */
  perOwner: number;
  /** Begin after this owner. */
  afterOwner: string;
  /** Owners and schedules that have enough running starts. */
  busyOwners: readonly string[];
  busySchedules: readonly string[];
}

interface StartedRun {
  runId: string;
  sessionId: string;
  turnId: string;
  startedAt: Date;
}

/** Bounds the owners that one claim visits. */
const MAX_OWNERS = 10_000;

const NEXT = statement(
  'run_queue.next',
  `select (select min(due_at) from schedules where due_at is not null) as "dueAt",
     (select min(ready_at) from runs where ready_at is not null) as "readyAt",
     exists (select from runs where status = 'queued' and ready_at is null) as "hasWaiting"`,
);

/**
 * Owners take turns, in the order of their ids. A claimed run is ready again when its lease has ended, so that a run
 * whose process was killed is started by another one.
 */
const CLAIM = statement(
  'run_queue.claim',
  `with recursive owners (owner_id, visited) as (
     (select owner_id, 1 from runs where ready_at is not null and owner_id > $4 order by owner_id limit 1)
     union all
     select (select r.owner_id from runs r where r.ready_at is not null and r.owner_id > o.owner_id
             order by r.owner_id limit 1), o.visited + 1
     from owners o where o.owner_id is not null and o.visited < ${MAX_OWNERS}
   ),
   ready as (
     select r.run_id, row_number() over (partition by o.owner_id order by r.position, r.ready_at) as turn, o.owner_id
     from owners o cross join lateral (
       select run_id, position, ready_at from runs
       where ready_at is not null and owner_id = o.owner_id and ready_at <= $1 and deployment_id <> all($6)
       order by position, ready_at limit $7
     ) r
     where o.owner_id <> all($5)
   ),
   chosen as (select run_id from ready order by turn, owner_id limit $3),
   locked as (
     select run_id from runs where run_id in (select run_id from chosen) and ready_at <= $1 and status = 'queued'
     for update skip locked
   ),
   claimed as (
     update runs set ready_at = $2 from locked where runs.run_id = locked.run_id returning runs.*
   )
   select c.run_id as "runId", c.deployment_id as "deploymentId", c.owner_id as "ownerId", d.agent_id as "agentId",
     c.created_at as "createdAt", c.trigger, c.scheduled_for as "scheduledFor", coalesce(c.number, 0) as number,
     c.cancels_previous as "cancelsPrevious", c.backfill_id as "backfillId", c.failing_since as "failingSince",
     c.attempts, c.traceparent, coalesce(p.text, '') as prompt, d.name, s.timezone,
     s.catch_up_seconds as "catchUpSeconds", s.overlap, s.session_mode as "sessionMode",
     s.session_id as "sessionId", s.session_is_given as "sessionIsGiven"
   from claimed c
   join deployments d on d.deployment_id = c.deployment_id
   join schedules s on s.deployment_id = c.deployment_id
   left join prompts p on p.deployment_id = c.deployment_id and p.digest = c.prompt_digest
   order by c.owner_id, c.position`,
);

/** A turn can end before its start is stored, so the status of a run that has ended is kept. */
const STARTED = statement(
  'run_queue.started',
  `with given as (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
       as g (run_id, session_id, turn_id, started_at)
   ),
   started as (
     update runs r set session_id = g.session_id, turn_id = g.turn_id, ready_at = null, failing_since = null,
       started_at = coalesce(r.started_at, g.started_at),
       lateness_ms = case when r.due_at is not null
         then greatest(0, extract(epoch from coalesce(r.started_at, g.started_at) - r.due_at) * 1000)::bigint end,
       status = case when r.status = 'queued' then 'running' else r.status end
     from given g where r.run_id = g.run_id
     returning r.run_id, r.deployment_id, r.status, r.lateness_ms
   ),
   reset as (
     update schedules s set failures = 0
     where s.deployment_id in (select deployment_id from started) and s.failures > 0 and not s.count_failed_turns
   )
   select run_id as "runId", status, lateness_ms as "latenessMs" from started`,
);

const RETRY = statement(
  'run_queue.retry',
  `update runs set ready_at = $2, failing_since = coalesce(failing_since, $3), attempts = attempts + 1
   where run_id = $1 and status = 'queued'`,
);

const POSTPONE = statement(
  'run_queue.postpone',
  `update runs set ready_at = $2, failing_since = null, attempts = 0 where run_id = $1 and status = 'queued'`,
);

/** A stored start. The status is `cancelled` for a run that was cancelled while it started. */
interface StoredStart {
  runId: string;
  status: string;
  latenessMs: number | null;
}

export type RunQueue = ReturnType<typeof createRunQueue>;

export function createRunQueue(db: Database) {
  const starts = createBatcher<StartedRun, StoredStart | undefined>({
    name: 'run_queue.starts',
    observer: db.observer,
    async run(runs, options) {
      const rows = await db.rows<StoredStart>(
        STARTED,
        [
          runs.map(({ runId }) => runId),
          runs.map(({ sessionId }) => sessionId),
          runs.map(({ turnId }) => turnId),
          runs.map(({ startedAt }) => startedAt),
        ],
        options,
      );
      const byId = new Map(rows.map((row) => [row.runId, row]));
      return runs.map(({ runId }) => byId.get(runId));
    },
    sizeOf: () => 1,
    keyOf: ({ runId }) => runId,
    // The slots of the starter bound the callers.
    isBounded: false,
    maxItems: 500,
    maxBytes: 500,
  });

  return {
    /** One statement: an idle ticker runs no other one. */
    async next(): Promise<NextTimes> {
      const [row] = await db.rows<NextTimes>(NEXT);
      return row ?? { dueAt: null, readyAt: null, hasWaiting: false };
    },

    claim(limits: ClaimLimits, options?: WriteOptions): Promise<ClaimedRun[]> {
      const { now, leaseUntil, slots, perOwner, afterOwner, busyOwners, busySchedules } = limits;
      const values = [now, leaseUntil, slots, afterOwner, busyOwners, busySchedules, perOwner];
      return db.rows<ClaimedRun>(CLAIM, values, options);
    },

    /** Stores that a run has started. Concurrent starts share a statement. Undefined when the schedule is deleted. */
    started: (run: StartedRun, options?: WriteOptions): Promise<StoredStart | undefined> =>
      starts.submit(run, options),

    /** Puts a run back whose start has failed for a temporary reason. */
    async retry(runId: string, readyAt: Date, failedAt: Date, options?: WriteOptions): Promise<void> {
      await db.change(RETRY, [runId, readyAt, failedAt], options);
    },

    /** Puts a run back that cannot start yet, without a failure. */
    async postpone(runId: string, readyAt: Date, options?: WriteOptions): Promise<void> {
      await db.change(POSTPONE, [runId, readyAt], options);
    },
  };
}
