import { startErrand } from './errand.ts';
import type { LoadFigures, LoadJob } from './load.ts';
import type { Subject } from './subject.ts';

const LATE_MS = 20_000;

/**
 * Sends to a subject from a process of its own. `onWarm` runs when the warm-up is over. Fails when an answer
 * is not 200, when the subject ends, and when it answers no more.
 */
export async function send(
  job: LoadJob,
  { failed }: Subject,
  onWarm: () => Promise<void> = async () => {},
): Promise<LoadFigures> {
  const lateMs = job.warmUpMs + job.durationMs + LATE_MS;
  await using senders = startErrand<LoadFigures>('load.ts', job, { lateMs, failed });
  await senders.ready;
  await onWarm();
  return await senders.figures;
}
