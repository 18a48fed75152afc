/**
 * Worker processes: clients of a measurement run in processes of their own, so that their cost is not part of the result. This
 * file has both ends: `startWorker` starts the process, `runWorker` runs in it.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pause } from '../bench.ts';

type Message = { kind: 'ready' } | { kind: 'done'; figures: unknown } | { kind: 'failed'; reason: string };

/** A running worker. Disposal kills its process. */
interface BenchWorker<Figures> extends AsyncDisposable {
  /** Resolves when the measured period begins. Rejects if the worker fails. */
  ready: Promise<void>;
  figures: Promise<Figures>;
}

interface WorkerLimits {
  /** The worker fails after this time. */
  timeoutMs: number;
  /** Rejects when the system under test ends. The worker then fails with that error. */
  failed?: Promise<never>;
}

/** The exit of the system under test may be reported after its connections have closed. */
const GRACE_MS = 500;

/** Starts a file of this folder, which calls `runWorker`, with `job`. */
export function startWorker<Figures>(file: string, job: object, limits: WorkerLimits): BenchWorker<Figures> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ready = Promise.withResolvers<void>();
  const figures = Promise.withResolvers<Figures>();
  const never = new Promise<never>(() => {});
  const failed = limits.failed ?? never;

  async function fail(reason: string): Promise<void> {
    const error = await Promise.race([failed, pause(GRACE_MS)]).then(
      () => new Error(reason),
      (subjectError) => subjectError,
    );
    for (const end of [ready, figures]) end.reject(error);
  }

  // Prevents unhandled rejections; users of the promises still receive the error.
  for (const { promise } of [ready, figures]) promise.catch(() => {});
  failed.catch((error) => {
    for (const end of [ready, figures]) end.reject(error);
  });
  const timer = setTimeout(
    () => void fail(`${file} was not done after ${limits.timeoutMs} ms`),
    limits.timeoutMs,
  );
  child.on('message', (message: Message) => {
    if (message.kind === 'ready') ready.resolve();
    else if (message.kind === 'done') figures.resolve(message.figures as Figures);
    else void fail(message.reason);
  });
  child.once('exit', (code) => void fail(`${file} has ended (exit code ${code})`));
  child.send(job);
  return {
    ready: ready.promise,
    figures: figures.promise,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** Runs the job of this worker process. `work` calls `ready` when the measured period begins. */
export function runWorker<Job, Figures>(work: (job: Job, ready: () => void) => Promise<Figures>): void {
  const sendMessage = (message: Message) => process.send?.(message);
  process.once('message', async (job: Job) => {
    try {
      sendMessage({ kind: 'done', figures: await work(job, () => sendMessage({ kind: 'ready' })) });
    } catch (error) {
      sendMessage({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
    }
    process.disconnect();
  });
  process.once('disconnect', () => process.exit());
}
