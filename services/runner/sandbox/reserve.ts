import { statfsSync } from 'node:fs';
import type { Clock } from '../../../lib/clock.ts';

const MOST_RESERVED = 512 * 1024 * 1024;
const SHARE_RESERVED = 0.05;
const SHARE_OF_FILES = 0.02;
const LOOK_MS = 100;

/** Whether a disk has nothing left but what it keeps for all else that is on it, such as the database. */
export function isNearlyFull(path: string, moreBytes = 0): boolean {
  const { bavail, blocks, bsize, ffree, files } = statfsSync(path);
  // Some file systems have no fixed number of files.
  if (files > 0 && ffree < files * SHARE_OF_FILES) return true;
  return bavail * bsize - moreBytes < Math.min(MOST_RESERVED, blocks * bsize * SHARE_RESERVED);
}

/** Looks again and again until it is, and says so once; the returned function ends that. */
export function watchReserve(path: string, clock: Clock, tell: () => void): () => void {
  const look = () => {
    if (isNearlyFull(path)) tell();
    else cancel = clock.after(LOOK_MS, look);
  };
  let cancel = clock.after(LOOK_MS, look);
  return () => cancel();
}
