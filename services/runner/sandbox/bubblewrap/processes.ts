import { readFileSync } from 'node:fs';
import { type Clock, wait } from '../../../../lib/clock.ts';

const PAUSE_MS = 1;

/** Ends a process; the first one of a process namespace takes all others with it. */
export function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was quicker.
  }
}

/** Resolves when nothing of it runs any more: the first process of a namespace ends after all others have. */
export async function gone(pid: number, clock: Clock): Promise<void> {
  while (!isGone(pid)) await wait(clock, PAUSE_MS);
}

/** Somebody else may take their time to notice that it has ended. */
function isGone(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const state = stat.charAt(stat.lastIndexOf(')') + 2);
    return state === 'Z' || state === 'X';
  } catch {
    return true;
  }
}
