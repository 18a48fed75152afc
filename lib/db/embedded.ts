import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lockDirectory } from '../directory.ts';
import { findBinaries } from './embedded/binaries.ts';
import { clusterOwner, openCluster } from './embedded/cluster.ts';
import { chooseLauncher, type FindTool, findTool } from './embedded/launcher.ts';
import { stopLeftoverServer } from './embedded/leftover.ts';
import { freePort } from './embedded/port.ts';
import { type Exit, exitOf, startServer } from './embedded/server.ts';
import { ServerLog } from './embedded/server-log.ts';
import { asArguments, SETTINGS } from './embedded/settings.ts';

export { PostgresProblem } from './embedded/problem.ts';

export interface PostgresOptions {
  /** The directory of this server only. It is created when missing and locked while the server runs. */
  directory: string;
  /** 0 or undefined selects a free port below 32768. */
  port?: number;
  /** Server settings that override the defaults of this service. */
  settings?: Readonly<Record<string, string>>;
  log: (line: string) => void;
  /** Aborts the start. */
  signal?: AbortSignal;
  /** Finds programs of the host by name. */
  tool?: FindTool;
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** `postgres://user:password@127.0.0.1:port/database`, for a superuser. */
  readonly url: string;
  readonly pid: number;
  /** Resolves with the exit of the server for any reason. */
  readonly exited: Promise<Exit>;
  /** Ends sessions and writes all data to disk. After 1.5 s it stops the server at once; the next start recovers. */
  stop(): Promise<void>;
}

const FAST_MS = 1_500;
const IMMEDIATE_MS = 1_000;

/**
 * Starts a PostgreSQL server as a child process, creates its cluster on first use, and resolves when it accepts
 * connections. The server shuts down cleanly when this process ends for any reason, and does not receive the signals of
 * the terminal. A login requires the password in the directory. The kernel binds the server to the calling thread: call
 * it from a thread that outlives the server. Throws PostgresProblem or DirectoryProblem when the operator must act.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { log, signal, tool = findTool } = options;
  await using opened = new AsyncDisposableStack();
  const { path: directory } = opened.use(await lockDirectory(options.directory));
  const binaries = await findBinaries(join(directory, 'libraries'));
  const present = await clusterOwner(directory);
  const launcher = await chooseLauncher({ directory, binaries, present, tool });
  const durable = options.settings?.fsync !== 'off';
  const cluster = await openCluster({ directory, binaries, launcher, present, durable, log, signal });
  await stopLeftoverServer(cluster.data, log, signal);
  const output = opened.use(await ServerLog.open(join(directory, 'postgres.log')));
  const { child, port } = await startServer({
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
  const resources = opened.move();
  const exited = exitOf(child).finally(() => resources.disposeAsync());
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= stopServer(child, exited, log);
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

async function stopServer(
  child: ChildProcess,
  exited: Promise<Exit>,
  log: (line: string) => void,
): Promise<void> {
  child.kill('SIGINT');
  if (await within(FAST_MS, exited)) return;
  log('PostgreSQL did not stop in time and is stopped at once; it recovers at its next start');
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
