import { readdirSync, readFileSync } from 'node:fs';
import { type Clock, wait } from '../../../../lib/clock.ts';

const PAUSE_MS = 1;
const PATIENCE_MS = 10_000;

/** A process of this machine, which no later one of the same number is taken for. */
export class Process {
  readonly pid: number;
  readonly #startedAt: string;

  private constructor(pid: number, startedAt: string) {
    this.pid = pid;
    this.#startedAt = startedAt;
  }

  /** Undefined when there is none. */
  static find(pid: number): Process | undefined {
    const stat = statOf(pid);
    return stat && new Process(pid, stat.startedAt);
  }

  /** The first one of a process namespace takes all others with it. */
  end(): void {
    if (!this.#isThere) return;
    try {
      process.kill(this.pid, 'SIGKILL');
    } catch {
      // It was quicker.
    }
  }

  /**
   * Waits until nothing of it runs any more: the first process of a namespace ends after all others have. False when
   * the kernel does not come to an end with it.
   */
  async gone(clock: Clock): Promise<boolean> {
    for (let waited = 0; waited < PATIENCE_MS; waited += PAUSE_MS) {
      if (!this.#isThere) return true;
      await wait(clock, PAUSE_MS);
    }
    return false;
  }

  /** One that has ended may wait for somebody to notice. */
  get #isThere(): boolean {
    const stat = statOf(this.pid);
    return stat?.startedAt === this.#startedAt && stat.state !== 'Z' && stat.state !== 'X';
  }
}

/** The numbers of the processes that a process has started and that are still there. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // Some kernels do not keep such lists.
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return all.map(Number).filter((one) => statOf(one)?.parent === pid);
  }
}

/** https://docs.kernel.org/filesystems/proc.html, table 1-4. */
function statOf(pid: number): { state: string; parent: number; startedAt: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before it may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', parent: Number(fields[1]), startedAt: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
