import type { Clock } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import type { ToolCallContext } from '../tool-calls/tool-call.ts';
import { UnknownSaveError } from '../workspace/save-changes.ts';
import type { PooledSandbox } from './pooled-sandbox.ts';

const DEFAULT_TIMEOUT_SECONDS = 120;

/** The time limit of commands, in seconds. */
export function commandSeconds({ environment }: PooledSandbox): number {
  return environment.spec?.sandbox?.commandTimeoutSeconds || DEFAULT_TIMEOUT_SECONDS;
}

/**
 * Does work for a command within the time limit of the environment's commands, so that a turn does not wait longer for a
 * failing object store. Then fails with DEADLINE_EXCEEDED, or with UnknownSaveError when the changes may be saved.
 * `problem` states what could not be done.
 */
export async function withinCommandTime<Result>(
  problem: string,
  pooled: PooledSandbox,
  { signal: callSignal }: Pick<ToolCallContext, 'signal'>,
  clock: Clock,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const seconds = commandSeconds(pooled);
  const late = new AbortController();
  const cancel = clock.after(seconds * 1_000, () => late.abort());
  try {
    return await work(AbortSignal.any([callSignal, late.signal]));
  } catch (error) {
    if (!late.signal.aborted || callSignal.aborted) throw error;
    const message = `${problem} within ${seconds} seconds.`;
    if (error instanceof UnknownSaveError) throw new UnknownSaveError(message, { cause: error });
    throw refuse('DEADLINE_EXCEEDED', message, { cause: error });
  } finally {
    cancel();
  }
}
