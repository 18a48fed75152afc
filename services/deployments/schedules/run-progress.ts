import type { Clock } from '../../../lib/clock.ts';
import { withPrefix } from '../../../lib/ids.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { TurnState } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { countFailure, type RunEvent } from '../domain/schedules/pause.ts';
import { isFinal, type RunStatus, runStateOf } from '../domain/schedules/run-state.ts';
import type { MovedRun, RunChange, RunStateStore } from '../store/run-states.ts';
import type { ScheduledDeployment } from '../store/schedules.ts';
import type { ScheduleMetrics } from './metrics.ts';

/** Why a run could not start. */
export interface StartFailure {
  reason: string;
  code: string;
  message: string;
}

interface RunProgressContext {
  states: Pick<RunStateStore, 'apply'>;
  metrics: ScheduleMetrics;
  clock: Clock;
  /** Runs can be ready that waited for a run that has ended. */
  onReady: () => void;
}

export type RunProgress = ReturnType<typeof createRunProgress>;

/** Stores the states of runs. A state that is stored already changes nothing. */
export function createRunProgress({ states, metrics, clock, onReady }: RunProgressContext) {
  async function apply(changes: readonly RunChange[], trace: Trace | undefined): Promise<void> {
    if (changes.length === 0) return;
    const now = clock.now();
    const moved = await states.apply(changes, (current, run) => countRun(current, run, now), now, { trace });
    for (const { status } of moved) metrics.runs(status);
    if (moved.some(({ status }) => isFinal(status as RunStatus))) onReady();
  }

  return {
    /** Moves the runs of these turns to the states of the turns. The id of a turn has the characters of its run's id. */
    applyTurns: (turns: readonly TurnState[], trace?: Trace): Promise<void> =>
      apply(
        turns.map((turn) => changeOf(turn, clock.now())),
        trace,
      ),

    /** Ends the runs of turns whose sessions were deleted. */
    applyDeleted(turnIds: readonly string[], trace?: Trace): Promise<void> {
      const finishedAt = clock.now();
      const outcome = { status: 'interrupted', reason: 'session_deleted', finishedAt } as const;
      return apply(
        turnIds.map((turnId) => ({ ...NO_RESULT, ...outcome, runId: withPrefix('run', turnId), turnId })),
        trace,
      );
    },

    /** Ends a run that could not start. */
    fail(runId: string, { reason, code, message }: StartFailure, trace?: Trace): Promise<void> {
      const finishedAt = clock.now();
      const outcome = {
        status: 'failed',
        reason,
        errorCode: code,
        errorMessage: message,
        finishedAt,
      } as const;
      return apply([{ ...NO_RESULT, ...outcome, runId }], trace);
    },

    /** Cancels queued runs that a newer run replaces. */
    cancelOverlapped(runIds: readonly string[], trace?: Trace): Promise<void> {
      const outcome = { status: 'cancelled', reason: 'overlap', finishedAt: clock.now() } as const;
      return apply(
        runIds.map((runId) => ({ ...NO_RESULT, ...outcome, runId })),
        trace,
      );
    },
  };
}

const NO_RESULT = {
  sessionId: null,
  turnId: null,
  stopReasonJson: null,
  usageJson: null,
  errorCode: null,
  errorMessage: null,
};

function changeOf(turn: TurnState, now: Date): RunChange {
  const { status, reason } = runStateOf(turn);
  const error =
    turn.errorJson === '' ? undefined : (JSON.parse(turn.errorJson) as { code: string; message: string });
  const hasEnded = isFinal(status);
  return {
    runId: withPrefix('run', turn.turnId),
    status,
    reason,
    sessionId: turn.sessionId,
    turnId: turn.turnId,
    stopReasonJson: hasEnded ? turn.stopReasonJson || null : null,
    usageJson: turn.usageJson || null,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
    finishedAt: hasEnded ? (turn.finishedAt ?? now) : null,
  };
}

/** Failures over a quota and of a dependency do not count: they end without a change of the schedule. */
const UNCOUNTED = new Set<string | null>(['quota_exceeded', 'unavailable']);

function eventOf({ status, reason, turnId }: MovedRun): RunEvent | undefined {
  if (status === 'succeeded') return 'turn_succeeded';
  if (status !== 'failed') return undefined;
  if (turnId !== null) return 'turn_failed';
  return UNCOUNTED.has(reason) ? undefined : 'cannot_start';
}

/** Counts the failures in a row. Disables the schedule when there are too many. */
function countRun(current: ScheduledDeployment, run: MovedRun, now: Date): ScheduledDeployment {
  const event = eventOf(run);
  const { deployment, schedule } = current;
  if (!event) return current;
  const { failures, pauses } = countFailure(schedule.settings, schedule.failures, event);
  if (!pauses || deployment.status === 'disabled') return { deployment, schedule: { ...schedule, failures } };
  return {
    deployment: { ...deployment, status: 'disabled', updatedAt: now },
    schedule: { ...schedule, failures, pausedReason: 'cannot_start', nextAt: null, dueAt: null },
  };
}
