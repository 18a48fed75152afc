import type { Subject } from '../subjects/subject.ts';
import type { LoadFigures, LoadJob } from './load-worker.ts';
import { startWorker } from './worker.ts';

const TIMEOUT_MS = 20_000;

/**
 * Sends requests to the system under test from a worker process. Calls `onWarm` at the end of the warm-up. Fails on another
 * status than expected, when the system exits, and when it stops responding.
 */
export async function send(
  job: LoadJob,
  { failed }: Subject,
  onWarm: () => Promise<void> = async () => {},
): Promise<LoadFigures> {
  const timeoutMs = job.warmUpMs + job.durationMs + TIMEOUT_MS;
  await using senders = startWorker<LoadFigures>('load-worker.ts', job, { timeoutMs, failed });
  await senders.ready;
  await onWarm();
  return await senders.figures;
}
