import type { Log } from '../../../lib/log.ts';
import { type PeriodicTask, startPeriodicTask } from '../../../lib/periodic-task.ts';
import { RotationLost } from '../store/rotation-steps.ts';
import { type RotationContext, runRotation } from './run.ts';

/** The interval in which rotations of other or ended replicas are picked up, and failed steps are repeated. */
const INTERVAL_MS = 10_000;

interface WorkerOptions extends RotationContext {
  log: Log;
  /** A rotation whose replica has not completed a step for this time is taken. */
  staleMs: number;
}

/** Works on the running rotation, if no other replica does. A request starts work now. */
export function startRotationWorker(options: WorkerOptions): PeriodicTask {
  const { steps, clock, log, staleMs } = options;

  async function work(signal: AbortSignal): Promise<void> {
    const now = clock.now();
    const rotation = await steps.claim(now, new Date(now.getTime() - staleMs));
    if (!rotation) return;
    await runRotation(rotation, options, signal).catch((error: unknown) => {
      if (!(error instanceof RotationLost)) throw error;
    });
  }

  const task = startPeriodicTask({
    clock,
    everyMs: INTERVAL_MS,
    firstAfterMs: 0,
    work,
    onFailure: (error) =>
      log.warn({ err: error }, 'the rotation of keys was interrupted and will be continued'),
  });
  return {
    request: task.request,
    async stop() {
      await task.stop();
      await steps.release().catch((error: unknown) => {
        log.warn({ err: error }, 'the rotation of keys was not released; another replica continues it later');
      });
    },
  };
}
