/**
 * Work that a measurement has done in a process of its own, so that what it costs is missing from what is measured.
 * Both ends are here: whoever starts the process, and what runs in it.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pause } from './bench.ts';

type Message = { kind: 'ready' } | { kind: 'done'; figures: unknown } | { kind: 'failed'; reason: string };

/** An errand that is under way. Disposing of it ends its process. */
export interface Errand<Figures> extends AsyncDisposable {
  /** When what is measured begins. Fails with the errand. */
  ready: Promise<void>;
  figures: Promise<Figures>;
}

export interface ErrandLimits {
  /** The longest it may take. */
  lateMs: number;
  /** Fails when what it works on has ended: then the errand fails for that reason. */
  failed?: Promise<never>;
}

/** The end of a subject may be known a moment after its connections are. */
const GRACE_MS = 500;

/** Has `job` carried out by a file of this folder, which calls `carryOut`. */
export function startErrand<Figures>(file: string, job: object, limits: ErrandLimits): Errand<Figures> {
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

  // Whoever waits for them hears of it.
  for (const { promise } of [ready, figures]) promise.catch(() => {});
  failed.catch((error) => {
    for (const end of [ready, figures]) end.reject(error);
  });
  const timer = setTimeout(() => void fail(`${file} was not done after ${limits.lateMs} ms`), limits.lateMs);
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

/** Carries out the job with which this process was started; `ready` says that what is measured begins. */
export function carryOut<Job, Figures>(work: (job: Job, ready: () => void) => Promise<Figures>): void {
  const tell = (message: Message) => process.send?.(message);
  process.once('message', async (job: Job) => {
    try {
      tell({ kind: 'done', figures: await work(job, () => tell({ kind: 'ready' })) });
    } catch (error) {
      tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
    }
    process.disconnect();
  });
  process.once('disconnect', () => process.exit());
}
