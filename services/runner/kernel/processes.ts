import { readdirSync, readFileSync } from 'node:fs';
import { type Clock, wait } from '../../../lib/clock.ts';

const POLL_INTERVAL_MS = 1;
const TIMEOUT_MS = 10_000;

/** A process of this machine. Its pid and start time identify it, because pids are reused. */
export class ProcessHandle {
  readonly pid: number;
  readonly #startedAt: string;

  private constructor(pid: number, startedAt: string) {
    this.pid = pid;
    this.#startedAt = startedAt;
  }

  /** Returns undefined when no process has this pid. */
  static find(pid: number): ProcessHandle | undefined {
    const stat = readStat(pid);
    return stat && new ProcessHandle(pid, stat.startedAt);
  }

  /**
   * Kills a process with all its descendants, and waits until they have ended. Each process is stopped before its
   * children are listed, so that it cannot start further ones. Returns false when one is still there after 10 seconds.
   */
  static async killTree(pid: number, clock: Clock): Promise<boolean> {
    const handles = stopTree(pid);
    for (const handle of handles) handle.kill();
    const ends = await Promise.all(handles.map((handle) => handle.waitUntilGone(clock)));
    return ends.every(Boolean);
  }

  /** Sends SIGKILL. When this is the first process of a pid namespace, the kernel ends all others in it, too. */
  kill(): void {
    this.#signal('SIGKILL');
  }

  stop(): void {
    this.#signal('SIGSTOP');
  }

  /**
   * Waits until the process has ended. The first process of a pid namespace ends after all others in it have. Returns
   * false when it is still there after 10 seconds.
   */
  async waitUntilGone(clock: Clock): Promise<boolean> {
    for (let waitedMs = 0; waitedMs < TIMEOUT_MS; waitedMs += POLL_INTERVAL_MS) {
      if (!this.#isRunning) return true;
      await wait(clock, POLL_INTERVAL_MS);
    }
    return false;
  }

  #signal(signal: 'SIGKILL' | 'SIGSTOP'): void {
    if (!this.#isRunning) return;
    try {
      process.kill(this.pid, signal);
    } catch {
      // The process ended in the meantime.
    }
  }

  /** A process that has ended may still be listed until its parent reads its exit status. */
  get #isRunning(): boolean {
    const stat = readStat(this.pid);
    return stat?.startedAt === this.#startedAt && stat.state !== 'Z' && stat.state !== 'X';
  }
}

/** Stops a process and its descendants, and returns them. */
function stopTree(pid: number): ProcessHandle[] {
  const handle = ProcessHandle.find(pid);
  if (!handle) return [];
  handle.stop();
  return [handle, ...childrenOf(pid).flatMap(stopTree)];
}

/** Returns the pids of the running children of a process. Process 0 has none, although the first process names it. */
export function childrenOf(pid: number): number[] {
  if (pid === 0) return [];
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // Kernels without CONFIG_PROC_CHILDREN have no such file.
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((child) => readStat(child)?.parent === pid);
  }
}

/** https://docs.kernel.org/filesystems/proc.html, table 1-4. */
function readStat(pid: number): { state: string; parent: number; startedAt: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program name precedes these fields and may contain any character, including a parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', parent: Number(fields[1]), startedAt: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
