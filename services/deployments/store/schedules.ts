import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import type { Deployment } from '../domain/deployments.ts';
import { lockDeployment, replaceDeployment } from './deployments.ts';
import { digestOf, putPrompt, sweepPrompts } from './prompts.ts';
import { cancelQueued } from './run-changes.ts';
import {
  expressionOf,
  SCHEDULE_COLUMNS,
  type ScheduleRow,
  type StoredSchedule,
  scheduleOf,
  WITH_PROMPT,
} from './schedule-rows.ts';

const INSERT = statement(
  'schedules.insert',
  `insert into schedules (deployment_id, owner_id, kind, expression, timezone, start_at, end_at, dst_missing,
     dst_repeated, jitter_seconds, overlap, catch_up_seconds, session_mode, session_id, session_is_given,
     prompt_digest, pause_after_failures, count_failed_turns, paused_reason, failures, next_at, due_at)
   values ($1, $22, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, ${digestOf('$15::text')}, $16, $17, $18, $19, $20, $21)`,
);

const UPDATE = statement(
  'schedules.update',
  `update schedules set kind = $2, expression = $3, timezone = $4, start_at = $5, end_at = $6, dst_missing = $7,
     dst_repeated = $8, jitter_seconds = $9, overlap = $10, catch_up_seconds = $11, session_mode = $12,
     session_id = $13, session_is_given = $14, prompt_digest = ${digestOf('$15::text')}, pause_after_failures = $16,
     count_failed_turns = $17, paused_reason = $18, failures = $19, next_at = $20, due_at = $21
   where deployment_id = $1`,
);

const FIND = statement(
  'schedules.by_ids',
  `select ${SCHEDULE_COLUMNS} from schedules s ${WITH_PROMPT} where s.deployment_id = any($1)`,
);

const LOCK = statement(
  'schedules.lock',
  `select ${SCHEDULE_COLUMNS} from schedules s ${WITH_PROMPT} where s.deployment_id = $1 for update of s`,
);

export type { StoredSchedule };

export interface ScheduledDeployment {
  deployment: Deployment;
  schedule: StoredSchedule;
}

/** Returns the changed rows. Throws when the change is refused. */
type DecideChange = (current: ScheduledDeployment) => ScheduledDeployment;

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

export function createScheduleStore(db: Database) {
  return {
    /** Writes the schedule of a new deployment. */
    async insert(tx: DatabaseSession, schedule: StoredSchedule, ownerId: string): Promise<void> {
      await tx.change(INSERT, [...valuesOf(schedule), ownerId]);
      await putPrompt(tx, schedule.deploymentId, schedule.settings.prompt);
    },

    async byIds(deploymentIds: readonly string[], options?: ReadOptions): Promise<StoredSchedule[]> {
      if (deploymentIds.length === 0) return [];
      return (await db.rows<ScheduleRow>(FIND, [deploymentIds], options)).map(scheduleOf);
    },

    /** Changes a schedule while its row is locked. Cancels its queued runs when the change disables it. */
    change(
      deploymentId: string,
      decide: DecideChange,
      now: Date,
      { trace, viewer }: WriteOptions,
    ): Promise<ScheduledDeployment | undefined> {
      return db.transaction((tx) => changeSchedule(tx, deploymentId, decide, now), { trace, viewer });
    },
  };
}

/** Changes a schedule in a transaction. Returns undefined for an unknown schedule. */
export async function changeSchedule(
  tx: DatabaseSession,
  deploymentId: string,
  decide: DecideChange,
  now: Date,
): Promise<ScheduledDeployment | undefined> {
  const deployment = await lockDeployment(tx, deploymentId);
  const [row] = await tx.rows<ScheduleRow>(LOCK, [deploymentId]);
  if (!deployment || !row) return undefined;
  const current = { deployment, schedule: scheduleOf(row) };
  const changed = decide(current);
  await replaceDeployment(tx, changed.deployment);
  await tx.change(UPDATE, valuesOf(changed.schedule));
  if (changed.schedule.settings.prompt !== current.schedule.settings.prompt) {
    await putPrompt(tx, deploymentId, changed.schedule.settings.prompt);
    await sweepPrompts(tx, [deploymentId]);
  }
  if (deployment.status === 'enabled' && changed.deployment.status === 'disabled')
    await cancelQueued(tx, deploymentId, 'disabled', now);
  return changed;
}

function valuesOf(schedule: StoredSchedule): unknown[] {
  const { deploymentId, settings, createdSessionId, pausedReason, failures, nextAt, dueAt } = schedule;
  const { timing, prompt, jitterSeconds, overlap, catchUpSeconds, sessionMode, sessionId } = settings;
  return [
    deploymentId,
    timing.kind,
    expressionOf(timing),
    timing.timezone,
    timing.startAt,
    timing.endAt,
    timing.dst.missing,
    timing.dst.repeated,
    jitterSeconds,
    overlap,
    catchUpSeconds,
    sessionMode,
    sessionId ?? createdSessionId,
    sessionId !== null,
    prompt,
    settings.pauseAfterFailures,
    settings.countFailedTurns,
    pausedReason,
    failures,
    nextAt,
    dueAt,
  ];
}
