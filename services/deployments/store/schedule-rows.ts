import type { ScheduleSettings, Timing } from '../domain/schedules/schedule.ts';

/** The columns of a schedule's timing, and those that decide on its times. Alias of the table: s. */
export const TIMING_COLUMNS = `
  s.kind, s.expression, s.timezone, s.start_at as "startAt", s.end_at as "endAt", s.dst_missing as "dstMissing",
  s.dst_repeated as "dstRepeated"`;

export interface TimingRow {
  kind: Timing['kind'];
  expression: string;
  timezone: string;
  startAt: Date | null;
  endAt: Date | null;
  dstMissing: Timing['dst']['missing'];
  dstRepeated: Timing['dst']['repeated'];
}

export function timingOf(row: TimingRow): Timing {
  const { kind, expression, timezone, startAt, endAt, dstMissing, dstRepeated } = row;
  return {
    kind,
    cron: kind === 'cron' ? expression : null,
    everySeconds: kind === 'every' ? Number(expression) : null,
    at: kind === 'at' ? new Date(expression) : null,
    timezone,
    startAt,
    endAt,
    dst: { missing: dstMissing, repeated: dstRepeated },
  };
}

/** The text of the column `expression`. */
export function expressionOf({ cron, everySeconds, at }: Timing): string {
  return cron ?? at?.toISOString() ?? String(everySeconds);
}

/** A schedule with its state. */
export interface StoredSchedule {
  deploymentId: string;
  settings: ScheduleSettings;
  /** The session of the mode `continue` that a run has created. Null: none yet, or the client names one. */
  createdSessionId: string | null;
  pausedReason: string | null;
  failures: number;
  /** Runs that were queued so far. */
  runCount: number;
  /** The scheduled time that is decided next, and when it is due. Null: none, or disabled. */
  nextAt: Date | null;
  dueAt: Date | null;
}

export const SCHEDULE_COLUMNS = `
  s.deployment_id as "deploymentId", ${TIMING_COLUMNS}, s.jitter_seconds as "jitterSeconds", s.overlap,
  s.catch_up_seconds as "catchUpSeconds", s.session_mode as "sessionMode", s.session_id as "sessionId",
  s.session_is_given as "sessionIsGiven", p.text as prompt, s.pause_after_failures as "pauseAfterFailures",
  s.count_failed_turns as "countFailedTurns", s.paused_reason as "pausedReason", s.failures,
  s.run_count as "runCount", s.next_at as "nextAt", s.due_at as "dueAt"`;

export const WITH_PROMPT = `join prompts p on p.deployment_id = s.deployment_id and p.digest = s.prompt_digest`;

export type ScheduleRow = TimingRow &
  Omit<ScheduleSettings, 'timing'> &
  Omit<StoredSchedule, 'settings' | 'createdSessionId'> & { sessionIsGiven: boolean };

export function scheduleOf(row: ScheduleRow): StoredSchedule {
  const { deploymentId, pausedReason, failures, runCount, nextAt, dueAt } = row;
  const { prompt, jitterSeconds, overlap, catchUpSeconds, sessionMode, sessionId, sessionIsGiven } = row;
  const { pauseAfterFailures, countFailedTurns } = row;
  return {
    deploymentId,
    settings: {
      prompt,
      timing: timingOf(row),
      jitterSeconds,
      overlap,
      catchUpSeconds,
      sessionMode,
      sessionId: sessionIsGiven ? sessionId : null,
      pauseAfterFailures,
      countFailedTurns,
    },
    createdSessionId: sessionIsGiven ? null : sessionId,
    pausedReason,
    failures,
    runCount,
    nextAt,
    dueAt,
  };
}
