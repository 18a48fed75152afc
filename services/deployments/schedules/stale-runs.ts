import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { startPeriodicTask } from '../../../lib/periodic-task.ts';
import type { RunStateStore, UnfinishedRun } from '../store/run-states.ts';
import type { TurnLookup } from './turn-lookup.ts';

/** Runs that another run waits for. */
const BLOCKING_MS = 5_000;
const UNFINISHED_MS = 60_000;
const BATCH = 500;

interface StaleRunsContext {
  states: RunStateStore;
  turns: TurnLookup;
  /** Finds turns of cancelled runs. */
  checkCancelled: (signal: AbortSignal) => Promise<void>;
  /** Whether a run waits for an earlier one. */
  hasWaiting: () => boolean;
  /** Runs are ready. */
  onReady: () => void;
  clock: Clock;
  log: Log;
}

/** Looks up the turns of unfinished runs, in case a signal was lost, and those of cancelled runs. */
export function startStaleRunLookups(context: StaleRunsContext) {
  const { states, turns, checkCancelled, hasWaiting, onReady, clock, log } = context;

  async function lookUpAll(
    read: (afterRunId: string, limit: number) => Promise<UnfinishedRun[]>,
    signal: AbortSignal,
  ): Promise<void> {
    for (let after = ''; !signal.aborted; ) {
      const runs = await read(after, BATCH);
      await turns.lookUp(runs.map(({ turnId }) => turnId));
      after = runs.at(-1)?.runId ?? '';
      if (runs.length < BATCH) return;
    }
  }

  async function checkBlocking(signal: AbortSignal): Promise<void> {
    if (!hasWaiting()) return;
    await lookUpAll(states.blocking, signal);
    await states.release(clock.now());
    onReady();
  }

  const task = (everyMs: number, work: (signal: AbortSignal) => Promise<void>) =>
    startPeriodicTask({
      clock,
      everyMs,
      work,
      onFailure: (error) =>
        log.warn({ err: error }, 'turns of runs could not be looked up; they are looked up again'),
    });
  const tasks = [
    task(BLOCKING_MS, checkBlocking),
    task(UNFINISHED_MS, (signal) => lookUpAll(states.unfinished, signal)),
    task(UNFINISHED_MS, checkCancelled),
  ];
  return {
    async stop(): Promise<void> {
      await Promise.all(tasks.map((one) => one.stop()));
    },
  };
}
