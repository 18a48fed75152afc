import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../lib/clock.ts';
import { Semaphore } from '../../../lib/semaphore.ts';
import { threadEnvironment } from '../../../lib/thread-environment.ts';
import { SkillProblem } from '../domain/skill-problem.ts';
import type { UnpackedSkill, UnpackResult, UnpackTask } from './messages.ts';

const PROGRAM = new URL('./worker.ts', import.meta.url);
const TIMEOUT_MS = 30_000;
const HEAP_MIB = 64;
const YOUNG_GENERATION_MIB = 8;
/** Archives that are unpacked at the same time. */
const CONCURRENT = 2;

export type Unpack = (task: UnpackTask, signal: AbortSignal) => Promise<UnpackedSkill>;

/** Returns a function that unpacks an archive in a thread of its own. It throws a SkillProblem for one that is no skill. */
export function createUnpack(clock: Clock): Unpack {
  const semaphore = new Semaphore(CONCURRENT);
  return (task, signal) => semaphore.run(() => unpack(task, clock, signal), { signal });
}

async function unpack(task: UnpackTask, clock: Clock, signal: AbortSignal): Promise<UnpackedSkill> {
  const worker = new Worker(PROGRAM, {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    env: threadEnvironment(),
    stdout: true,
    stderr: true,
  });
  const { promise, resolve, reject } = Promise.withResolvers<UnpackResult>();
  worker.once('message', resolve);
  worker.once('error', (error) =>
    reject(isOutOfMemory(error) ? new SkillProblem('', 'needs too much memory to be unpacked') : error),
  );
  worker.once('exit', () => reject(new Error('The thread that unpacks a skill ended without a result.')));
  const cancelTimeout = clock.after(TIMEOUT_MS, () =>
    reject(new SkillProblem('', `takes longer than ${TIMEOUT_MS / 1_000} seconds to be unpacked`)),
  );
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    const result = await promise;
    if (result.kind === 'done') return result.skill;
    throw new SkillProblem(result.path, result.message);
  } finally {
    cancelTimeout();
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
