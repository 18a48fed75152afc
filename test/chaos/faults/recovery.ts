import { until } from '../../support/wait.ts';
import { type Load, OPERATIONS } from './load.ts';
import { stateOf } from './parts.ts';

/** After the end of a fault, the service is ready and every operation succeeds within this time. */
export const RECOVERY_MS = 10_000;
/** A system that has not recovered after this time ends the run. */
export const GIVE_UP_MS = 60_000;

/** Waits until the service is ready and every operation has succeeded since a time. Returns the milliseconds since then. */
export async function recovered(origin: string, load: Load, since: number): Promise<number> {
  await until(
    'the service has recovered',
    async () =>
      (await stateOf(origin)) === 'ready' && OPERATIONS.every((name) => load.lastSuccess[name] > since),
    GIVE_UP_MS,
  );
  return performance.now() - since;
}
