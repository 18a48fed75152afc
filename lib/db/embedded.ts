import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { holdDirectory } from '../directory.ts';
import { findBinaries } from './embedded/binaries.ts';
import { clusterOwner, openCluster } from './embedded/cluster.ts';
import { chooseLauncher, type FindTool, findTool } from './embedded/launcher.ts';
import { endLeftover } from './embedded/leftover.ts';
import { Output } from './embedded/output.ts';
import { freePort } from './embedded/port.ts';
import { type Exit, exitOf, serve } from './embedded/server.ts';
import { asArguments, SETTINGS } from './embedded/settings.ts';

export { PostgresProblem } from './embedded/problem.ts';

export interface PostgresOptions {
  /** Created when it is missing, held while the server runs. It belongs to this server alone. */
  directory: string;
  /** 0 or absent: a free one below 32768. */
  port?: number;
  /** Server settings on top of the ones that suit this service. */
  settings?: Readonly<Record<string, string>>;
  log: (line: string) => void;
  /** Gives up the start. */
  signal?: AbortSignal;
  /** Finds programs of the host by name. */
  tool?: FindTool;
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** `postgres://user:password@127.0.0.1:port/database`, for a superuser. */
  readonly url: string;
  readonly pid: number;
  /** How the server ended, whoever ended it. */
  readonly exited: Promise<Exit>;
  /** Ends sessions and writes everything to disk; after 1.5 s leaves that to the recovery of the next start. */
  stop(): Promise<void>;
}

const FAST_MS = 1_500;
const IMMEDIATE_MS = 1_000;

/**
 * Starts a PostgreSQL server over a directory as a child process, makes its cluster on first use, and resolves
 * when it accepts connections. The server ends, cleanly, when this process ends in whatever way; it does
 * not see the signals of our terminal. Only who knows the password in the directory can log in.
 * The kernel ties the server to the thread that calls this: call it from a thread that lives long enough.
 * Throws PostgresProblem or DirectoryProblem when something must be mended first.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { log, signal, tool = findTool } = options;
  await using opened = new AsyncDisposableStack();
  const { path: directory } = opened.use(await holdDirectory(options.directory));
  const binaries = await findBinaries(join(directory, 'libraries'));
  const present = await clusterOwner(directory);
  const launcher = await chooseLauncher({ directory, binaries, present, tool });
  const durable = options.settings?.fsync !== 'off';
  const cluster = await openCluster({ directory, binaries, launcher, present, durable, log, signal });
  await endLeftover(cluster.data, log, signal);
  const output = opened.use(await Output.open(join(directory, 'postgres.log')));
  const { child, port } = await serve({
    port: options.port ?? 0,
    freePort,
    data: cluster.data,
    output,
    log,
    signal,
    start: (port) => {
      const settings = { ...SETTINGS, ...options.settings, port: String(port) };
      return launcher.start(['-D', cluster.data, ...asArguments(settings)], output.fd);
    },
  });
  const held = opened.move();
  const exited = exitOf(child).finally(() => held.disposeAsync());
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= end(child, exited, log);
    return stopping;
  };
  return {
    url: `postgres://${cluster.user}:${cluster.password}@127.0.0.1:${port}/${cluster.database}`,
    pid: child.pid ?? 0,
    exited,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function end(child: ChildProcess, exited: Promise<Exit>, log: (line: string) => void): Promise<void> {
  child.kill('SIGINT');
  if (await within(FAST_MS, exited)) return;
  log('PostgreSQL is cut short; it recovers at its next start');
  child.kill('SIGQUIT');
  if (await within(IMMEDIATE_MS, exited)) return;
  child.kill('SIGKILL');
  await exited;
}

async function within(ms: number, event: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(ms, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([event.then(() => true), late]);
  } finally {
    timer.abort();
  }
}
