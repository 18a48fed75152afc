import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ProcessEntry, processes } from '../../support/processes.ts';

const SUPERVISOR = join(import.meta.dirname, 'supervisor.ts');

interface SupervisorMessage {
  line?: string;
  url?: string;
  pid?: number;
}

interface Supervised extends SupervisorMessage {
  child: ChildProcess;
}

const started: ChildProcess[] = [];

/** Starts a process that runs a server on the directory, and waits for its output that `until` selects. */
export async function supervise(
  directory: string,
  options: { prefix?: string[]; without?: string[]; until?: (message: SupervisorMessage) => boolean } = {},
): Promise<Supervised> {
  const { prefix = [], without = [], until = (message) => message.url !== undefined } = options;
  const [program = '', ...args] = [...prefix, process.execPath, SUPERVISOR, directory, ...without];
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint += chunk;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const message: SupervisorMessage = JSON.parse(line);
    if (until(message)) return { ...message, child };
  }
  throw new Error(`the supervisor ended: ${complaint}`);
}

/** Stops the servers of all running supervisors. */
export async function stopSupervisors(): Promise<void> {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

export async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Returns the process id of the watchdog shell of a server. */
export function watchdogOf(child: ChildProcess): number {
  const isWatchdog = (entry: ProcessEntry) =>
    entry.parent === child.pid && entry.command.includes('read -r _');
  return processes().find(isWatchdog)?.pid ?? Number.NaN;
}

/** A directory in which other users can create directories. */
export function sharedDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'embedded-'));
  chmodSync(path, 0o711);
  return path;
}
