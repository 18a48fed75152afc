import { type Bench, pause } from '../../bench.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';
import { filesOf, transfer } from './transfers.ts';

export interface UploadMemory {
  /** Bytes of the upload. */
  bytes: number;
  /** Largest growth of the process's resident memory during the upload, in bytes. */
  grown: number;
}

const GIB = 1024 ** 3;
const UPLOAD_BYTES = 2 * GIB;
const WARM_UP_BYTES = 64 * 1024;
const LOOK_MS = 20;

/** k: the memory growth during one long upload. */
export async function measureUploadMemory(bench: Bench): Promise<UploadMemory> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const job = { direction: 'up' as const, target: `${await filesOf(subject)}/content`, files: 1, atOnce: 1 };
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
  bench.print('k', `an upload of ${mb(bytes)}: from ${mb(before)} to at most ${mb(most)}`);
  return { bytes, grown };
}

async function residentOf(subject: Subject): Promise<number> {
  const [first] = await subject.usage();
  return first?.usage.rss ?? Number.NaN;
}
