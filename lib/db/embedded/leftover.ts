import { execFile } from 'node:child_process';
import { readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const POLL_MS = 20;
/** A fast shutdown writes the changed pages first. After this time it is aborted, and the next start recovers. */
const FAST_SHUTDOWN_MS = 20_000;

/**
 * Waits for the server of a killed process to end, which usually has already begun to shut down. The caller holds the
 * directory lock, so no other process uses that server. A postmaster.pid whose process id now belongs to another program
 * is removed, because PostgreSQL would mistake that program for a server.
 */
export async function stopLeftoverServer(
  data: string,
  log: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const file = join(data, 'postmaster.pid');
  const pid = await pidIn(file);
  if (pid === undefined || !isAlive(pid)) return;
  if (!(await serves(pid, data))) return rm(file, { force: true });
  log(`waiting for the PostgreSQL server ${pid} of an earlier process to end`);
  send(pid, 'SIGINT');
  const startedAt = performance.now();
  let aborted = false;
  while (isAlive(pid) && (await serves(pid, data))) {
    await delay(POLL_MS, undefined, { signal });
    if (aborted || performance.now() - startedAt < FAST_SHUTDOWN_MS) continue;
    aborted = true;
    send(pid, 'SIGQUIT');
  }
}

/** Returns the process id in the first line. PostgreSQL's single-user mode writes it as a negative number. */
async function pidIn(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Math.abs(Number.parseInt(text, 10));
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

/** Returns whether the process is a PostgreSQL server of this directory, which it can know under another path. */
async function serves(pid: number, data: string): Promise<boolean> {
  const args = await commandOf(pid);
  if (!args.some((word) => basename(word) === 'postgres')) return false;
  const directory = args[args.indexOf('-D') + 1];
  if (directory === undefined || directory === data) return directory === data;
  const [a, b] = await Promise.all([directory, data].map((path) => stat(path).catch(() => undefined)));
  return a === undefined || (a.ino === b?.ino && a.dev === b.dev);
}

async function commandOf(pid: number): Promise<string[]> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  } catch {
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(
      () => ({ stdout: '' }),
    );
    return stdout.trim().split(' ');
  }
}

function isAlive(pid: number): boolean {
  return send(pid, 0);
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
