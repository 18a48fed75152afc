/** The events of runs that can count for the pause of their schedule. */
export type RunEvent =
  | 'started'
  /** Failed with DEPLOYMENT_CANNOT_START. Runs over a quota, and those that wait for a dependency, do not count. */
  | 'cannot_start'
  | 'turn_succeeded'
  | 'turn_failed';

interface PauseSettings {
  /** 0: never. */
  pauseAfterFailures: number;
  countFailedTurns: boolean;
}

interface FailureCount {
  /** The failures in a row, including this event. */
  failures: number;
  /** The schedule is disabled with the reason `cannot_start`. */
  pauses: boolean;
}

/** Counts failures in a row. With `countFailedTurns`, only a turn that succeeds ends the row, otherwise each start does. */
export function countFailure(settings: PauseSettings, failures: number, event: RunEvent): FailureCount {
  const { pauseAfterFailures, countFailedTurns } = settings;
  if (event === (countFailedTurns ? 'turn_succeeded' : 'started')) return { failures: 0, pauses: false };
  const counts = event === 'cannot_start' || (countFailedTurns && event === 'turn_failed');
  if (!counts) return { failures, pauses: false };
  return {
    failures: failures + 1,
    pauses: pauseAfterFailures > 0 && failures + 1 >= pauseAfterFailures,
  };
}
