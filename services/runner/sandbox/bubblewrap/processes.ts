import { readdirSync, readFileSync } from 'node:fs';
import { type Clock, wait } from '../../../../lib/clock.ts';

const PAUSE_MS = 1;
const PATIENCE_MS = 10_000;

/** Ends a process; the first one of a process namespace takes all others with it. */
export function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was quicker.
  }
}

/**
 * Waits until nothing of it runs any more: the first process of a namespace ends after all others have. False when the
 * kernel does not come to an end with it.
 */
export async function gone(pid: number, clock: Clock): Promise<boolean> {
  for (let waited = 0; waited < PATIENCE_MS; waited += PAUSE_MS) {
    if (isGone(pid)) return true;
    await wait(clock, PAUSE_MS);
  }
  return false;
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

/** The numbers of the processes that a process has started and that are still there. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // Some kernels do not keep such lists.
    return readdirSync('/proc')
      .filter((name) => parentOf(name) === pid)
      .map(Number);
  }
}

function parentOf(name: string): number | undefined {
  if (!/^\d+$/.test(name)) return undefined;
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]);
  } catch {
    return undefined;
  }
}
