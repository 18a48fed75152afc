import type {
  Run,
  ScheduleSettings as SettingsMessage,
  UpcomingTime,
} from '../../../proto/gen/ahs/deployments/v1/schedules.ts';
import type { ScheduleSettings } from '../domain/schedules/schedule.ts';
import type { ScheduledTime } from '../domain/schedules/timing.ts';
import type { StoredRun } from '../store/runs.ts';

/** `createdSessionId` is the session of the mode `continue` that a run has created. */
export function settingsMessage(
  settings: ScheduleSettings,
  createdSessionId: string | null,
): SettingsMessage {
  const { timing, sessionId } = settings;
  return {
    ...settings,
    sessionId: sessionId ?? createdSessionId ?? '',
    timing: {
      cron: timing.cron ?? undefined,
      everySeconds: timing.everySeconds ?? undefined,
      at: timing.at ?? undefined,
      timezone: timing.timezone,
      startAt: timing.startAt ?? undefined,
      endAt: timing.endAt ?? undefined,
      dst: timing.dst,
    },
  };
}

export function runMessage(run: StoredRun): Run {
  const { errorCode, errorMessage } = run;
  return {
    runId: run.runId,
    deploymentId: run.deploymentId,
    trigger: run.trigger,
    status: run.status,
    reason: run.reason ?? '',
    scheduledFor: run.scheduledFor ?? undefined,
    scheduledUntil: run.scheduledUntil ?? undefined,
    count: run.count,
    startedAt: run.startedAt ?? undefined,
    finishedAt: run.finishedAt ?? undefined,
    latenessMs: run.latenessMs ?? undefined,
    sessionId: run.sessionId ?? '',
    turnId: run.turnId ?? '',
    stopReasonJson: run.stopReasonJson ?? '',
    usageJson: run.usageJson ?? '',
    errorJson: errorCode === null ? '' : JSON.stringify({ code: errorCode, message: errorMessage ?? '' }),
    replayedFromRunId: run.replayedFromRunId ?? '',
    backfillId: run.backfillId ?? '',
    createdBy: run.createdBy ?? '',
    createdAt: run.createdAt,
  };
}

export function upcomingMessage({ at, local, utcOffset, note }: ScheduledTime, dueAt: Date): UpcomingTime {
  return { scheduledFor: at, dueAt, local, utcOffset, note: note ?? '' };
}
