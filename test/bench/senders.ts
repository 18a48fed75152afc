import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pause } from './bench.ts';
import type { LoadFigures, LoadJob, LoadMessage } from './load.ts';
import type { Subject } from './subject.ts';

const LATE_MS = 20_000;
const GRACE_MS = 500;

/**
 * Sends to a subject from a process of its own. `onWarm` runs when the warm-up is over. Fails when an answer
 * is not 200, when the subject ends, and when it answers no more.
 */
export async function send(
  job: LoadJob,
  subject: Subject,
  onWarm: () => Promise<void> = async () => {},
): Promise<LoadFigures> {
  const child = fork(fileURLToPath(new URL('load.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const late = Promise.withResolvers<never>();
  const limitMs = job.warmUpMs + job.durationMs + LATE_MS;
  const timer = setTimeout(
    () => late.reject(new Error(`the subject has left requests unanswered for ${LATE_MS} ms`)),
    limitMs,
  );
  try {
    const figures = new Promise<LoadFigures>((resolve, reject) => {
      child.on('message', (message: LoadMessage) => {
        if (message.kind === 'warm') onWarm().catch(reject);
        else if (message.kind === 'done') resolve(message.figures);
        else reject(new Error(message.reason));
      });
      child.once('exit', (code) => reject(new Error(`the senders have ended (exit code ${code})`)));
    });
    child.send(job);
    return await Promise.race([figures, subject.failed, late.promise]);
  } catch (error) {
    // The end of the subject may be known a moment after its connections are.
    await Promise.race([subject.failed, pause(GRACE_MS)]);
    throw error;
  } finally {
    clearTimeout(timer);
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
}
