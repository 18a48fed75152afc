import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresProblem } from './problem.ts';
import type { ServerLog } from './server-log.ts';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const POLL_MS = 5;
const LOG_INTERVAL_MS = 3_000;
const MAX_ATTEMPTS = 100;
const RETRY_MS = 100;

/**
 * Starts the server and resolves when it accepts connections. It tries another port when the port is taken, and tries
 * again after a short delay while the processes of a killed server still hold its shared memory. Recovery has no time
 * limit.
 */
export async function startServer(options: {
  /** 0 selects a free port. */
  port: number;
  freePort: () => Promise<number>;
  data: string;
  output: ServerLog;
  log: (line: string) => void;
  signal: AbortSignal | undefined;
  start: (port: number) => ChildProcess;
}): Promise<{ child: ChildProcess; port: number }> {
  const { data, output, signal } = options;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const port = options.port || (await options.freePort());
    const position = await output.size();
    const child = options.start(port);
    const exit = exitOf(child);
    try {
      if (await isReady(child, exit, data, options)) return { child, port };
    } catch (error) {
      child.kill('SIGQUIT');
      await exit;
      throw error;
    }
    const serverOutput = await output.since(position);
    const taken = serverOutput.includes('could not bind');
    if (taken && options.port) throw portInUse(port);
    if (attempt === MAX_ATTEMPTS || !(taken || serverOutput.includes('pre-existing shared memory')))
      throw failed(serverOutput, output.file);
    if (!taken) await delay(RETRY_MS, undefined, { signal });
  }
}

/** Resolves when the process ends. A spawn error counts as an exit without a code. */
export function exitOf(child: ChildProcess): Promise<Exit> {
  const { promise, resolve } = Promise.withResolvers<Exit>();
  if (child.exitCode !== null || child.signalCode !== null)
    resolve({ code: child.exitCode, signal: child.signalCode });
  child.once('exit', (code, signal) => resolve({ code, signal }));
  child.once('error', () => resolve({ code: null, signal: null }));
  return promise;
}

/** The server writes "ready" into its postmaster.pid when it accepts connections. */
async function isReady(
  child: ChildProcess,
  exit: Promise<Exit>,
  data: string,
  { log, signal }: { log: (line: string) => void; signal: AbortSignal | undefined },
): Promise<boolean> {
  const file = join(data, 'postmaster.pid');
  let ended = false;
  void exit.then(() => {
    ended = true;
  });
  let loggedAt = performance.now();
  while (!ended) {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
    if (lines[0] === String(child.pid) && lines[7]?.startsWith('ready')) return true;
    await delay(POLL_MS, undefined, { signal });
    if (performance.now() - loggedAt < LOG_INTERVAL_MS) continue;
    loggedAt = performance.now();
    log('PostgreSQL is still starting and recovers its data');
  }
  return false;
}

function portInUse(port: number): PostgresProblem {
  return new PostgresProblem(
    `port ${port} of 127.0.0.1 is taken`,
    'a free port',
    'choose another port for PostgreSQL, or 0 for any free one',
  );
}

function failed(serverOutput: string, file: string): PostgresProblem {
  const lines = serverOutput.trim().split('\n').slice(-5).join('\n');
  return new PostgresProblem(
    `PostgreSQL ended before it accepted connections: ${lines || 'it printed no message'}`,
    'a server that starts',
    `see ${file}`,
  );
}
