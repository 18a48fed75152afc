import { type Bench, pause } from './bench.ts';
import type { Subject } from './subject.ts';
import { startWhole } from './subjects.ts';
import { filesOf, transfer } from './transfers.ts';

export interface Growth {
  /** Of the upload. */
  bytes: number;
  /** By how much the process was larger at most than before it, in bytes. */
  grown: number;
}

const GIB = 1024 ** 3;
const UPLOAD_BYTES = 2 * GIB;
const WARM_UP_BYTES = 64 * 1024;
const LOOK_MS = 20;

/** k: how much memory one long upload needs. */
export async function measureGrowth(bench: Bench): Promise<Growth> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startWhole(database.url);
  const job = { direction: 'up' as const, target: await filesOf(subject), files: 1, atOnce: 1 };
  await transfer(subject, { ...job, first: 0, bytesEach: WARM_UP_BYTES });
  const before = await residentOf(subject);
  const bytes = Math.ceil(UPLOAD_BYTES * bench.scale);
  let isOver = false;
  const over = transfer(subject, { ...job, first: 1, bytesEach: bytes }).finally(() => {
    isOver = true;
  });
  let most = before;
  while (!isOver) {
    most = Math.max(most, await residentOf(subject));
    await pause(LOOK_MS);
  }
  await over;
  const grown = most - before;
  const mb = (value: number) => `${(value / 1e6).toFixed(0)} MB`;
  bench.say('k', `an upload of ${mb(bytes)}: from ${mb(before)} to at most ${mb(most)}`);
  return { bytes, grown };
}

async function residentOf(subject: Subject): Promise<number> {
  const [first] = await subject.usage();
  return first?.usage.rss ?? Number.NaN;
}
