import { execFile } from 'node:child_process';
import { readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const POLL_MS = 20;
/** A fast shutdown writes the changed pages first; after this it is cut short, and the next start recovers. */
const PATIENCE_MS = 20_000;

/**
 * Waits for the server that a killed process left behind, which is most often about to end already.
 * The caller holds the directory, so nobody else still wants that server. A postmaster.pid whose number now
 * belongs to some other program is removed, as PostgreSQL itself would take that program for a server.
 */
export async function endLeftover(
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
  let cut = false;
  while (isAlive(pid) && (await serves(pid, data))) {
    await delay(POLL_MS, undefined, { signal });
    if (cut || performance.now() - startedAt < PATIENCE_MS) continue;
    cut = true;
    send(pid, 'SIGQUIT');
  }
}

/** The number in the first line; PostgreSQL's single-user mode writes it negative. */
async function pidIn(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Math.abs(Number.parseInt(text, 10));
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

/** Whether the process is a PostgreSQL server over this very directory, under whatever path it knew it. */
async function serves(pid: number, data: string): Promise<boolean> {
  const args = await commandOf(pid);
  if (!args.some((word) => basename(word) === 'postgres')) return false;
  const theirs = args[args.indexOf('-D') + 1];
  if (theirs === undefined || theirs === data) return theirs === data;
  const [a, b] = await Promise.all([theirs, data].map((path) => stat(path).catch(() => undefined)));
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
