import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Output } from './output.ts';
import { PostgresProblem } from './problem.ts';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const POLL_MS = 5;
const TELL_MS = 3_000;
const ATTEMPTS = 100;
const RETRY_MS = 100;

/**
 * Starts the server until it accepts connections. Another port is tried when somebody was faster, and again a
 * little later while the last processes of a killed server still hold its memory. Recovery takes as long as
 * it takes.
 */
export async function serve(options: {
  /** 0 for a free one. */
  port: number;
  freePort: () => Promise<number>;
  data: string;
  output: Output;
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
    const said = await output.since(position);
    const taken = said.includes('could not bind');
    if (taken && options.port) throw takenPort(port);
    if (attempt === ATTEMPTS || !(taken || said.includes('pre-existing shared memory')))
      throw failed(said, output.file);
    if (!taken) await delay(RETRY_MS, undefined, { signal });
  }
}

/** Spawn errors count as an exit: the log then says nothing. */
export function exitOf(child: ChildProcess): Promise<Exit> {
  const { promise, resolve } = Promise.withResolvers<Exit>();
  if (child.exitCode !== null || child.signalCode !== null)
    resolve({ code: child.exitCode, signal: child.signalCode });
  child.once('exit', (code, signal) => resolve({ code, signal }));
  child.once('error', () => resolve({ code: null, signal: null }));
  return promise;
}

/** The server says in the last line of its postmaster.pid when it accepts connections. */
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
  let toldAt = performance.now();
  while (!ended) {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
    if (lines[0] === String(child.pid) && lines[7]?.startsWith('ready')) return true;
    await delay(POLL_MS, undefined, { signal });
    if (performance.now() - toldAt < TELL_MS) continue;
    toldAt = performance.now();
    log('PostgreSQL is still starting: it brings its data in order first');
  }
  return false;
}

function takenPort(port: number): PostgresProblem {
  return new PostgresProblem(
    `port ${port} of 127.0.0.1 is taken`,
    'a port that nobody listens on',
    'choose another port for PostgreSQL, or 0 for any free one',
  );
}

function failed(said: string, file: string): PostgresProblem {
  const lines = said.trim().split('\n').slice(-5).join('\n');
  return new PostgresProblem(
    `PostgreSQL ended before it accepted connections: ${lines || 'it said nothing'}`,
    'a server that starts',
    `see ${file}`,
  );
}
