import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { PostgresProblem } from './problem.ts';
import { stopAfterUs } from './watchdog.ts';

/** Numbers of the user and the group that files belong to. */
export interface Owner {
  uid: number;
  gid: number;
}

/** One way to run the server as an ordinary user who dies with this process. */
interface Way {
  name: string;
  /** Stands before the program and its arguments. */
  prefix: string[];
  /** Whom the server's files must belong to; undefined for this very user. */
  owner?: Owner;
  /** Changed by Node rather than by the prefix. */
  identity?: Owner;
  /** Nothing in the kernel ties the server's life to ours. */
  watched?: boolean;
}

export interface Launcher {
  readonly owner: Owner | undefined;
  /** As printed by `postgres --version`, for example "18.4". */
  readonly version: string;
  /** Runs a program to its end. Fails with what it printed when the exit code is not 0. */
  run(file: string, args: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Starts the server with its output in the file behind `output`. */
  start(args: readonly string[], output: number): ChildProcess;
}

/** Where the host keeps its programs; tests leave some of them out. */
export type FindTool = (name: string) => string | undefined;

export const findTool: FindTool = (name) =>
  ['/usr/bin', '/bin', '/usr/sbin', '/sbin']
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));

const NOBODY: Owner = { uid: 65_534, gid: 65_534 };

/** Whether the directory and the programs can be used; says the version. */
const PROBE = 'cd "$0" && test -w . && test -x "$2" && exec "$1" --version';

/** Starts nothing when this process has died before its child asked to be told of that. */
const UNLESS_ORPHAN = ['/bin/sh', '-c', 'test "$PPID" = "$0" && exec "$@"', String(process.pid)];

/**
 * Finds a way to run PostgreSQL on this host by trying. PostgreSQL refuses root, so root becomes an ordinary
 * user: in a user namespace, where the files stay root's own, or else by changing the user, who then must
 * own the files and may pass through directories closed to others. `present` is the owner of existing files.
 */
export async function chooseLauncher(options: {
  directory: string;
  binaries: Binaries;
  present: Owner | undefined;
  tool: FindTool;
}): Promise<Launcher> {
  const { directory, binaries, present, tool } = options;
  const failures: string[] = [];
  for (const way of ways(present, tool)) {
    try {
      if (way.identity) await chown(directory, way.identity.uid, way.identity.gid);
      const question = ['-c', PROBE, directory, binaries.postgres, binaries.initdb];
      const answer = await finish(launch(way, binaries, '/bin/sh', question, 'pipe'));
      const version = /^postgres \(PostgreSQL\) (\d+(?:\.\d+)?)/m.exec(answer)?.[1];
      if (!version) throw new Error(answer);
      return launcherBy(way, binaries, version);
    } catch (error) {
      failures.push(`${way.name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  throw new PostgresProblem(
    `PostgreSQL cannot be run on this machine (${failures.join('; ')})`,
    `a system that can run ${binaries.postgres}, and a user who can enter ${directory}`,
    'start the service as an ordinary user, or set SERVICE_DATABASE_URL to a PostgreSQL of your own',
  );
}

function ways(present: Owner | undefined, tool: FindTool): Way[] {
  const [unshare, setpriv] = [tool('unshare'), tool('setpriv')];
  const mortal = setpriv ? [setpriv, '--pdeathsig', 'INT'] : undefined;
  const asNobody = [`--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`];
  const space = unshare && mortal ? [unshare, '--user', ...asNobody, ...mortal] : undefined;
  const found: Way[] = [];
  if (process.getuid?.() !== 0) {
    // initdb wants to know its user's name, which a number given to a container need not have.
    if (space && !hasName()) found.push({ name: 'user namespace', prefix: space });
    if (mortal) found.push({ name: 'setpriv', prefix: mortal });
    return [...found, { name: 'directly', prefix: [], watched: true }];
  }
  const owner = present && present.uid !== 0 ? present : NOBODY;
  if (space && (!present || present.uid === 0))
    found.push({ name: 'user namespace', prefix: space, owner: { uid: 0, gid: 0 } });
  if (mortal) {
    const change = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
    const pass = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
    // access(2), by which programs look for each other, heeds that capability only with this bit.
    const heed = '--securebits=+no_setuid_fixup';
    found.push({ name: `user ${owner.uid}`, prefix: [...mortal, ...change, ...pass, heed], owner });
  }
  const name = `user ${owner.uid}, directly`;
  return [...found, { name, prefix: [], owner, identity: owner, watched: true }];
}

function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

function launcherBy(way: Way, binaries: Binaries, version: string): Launcher {
  return {
    owner: way.owner,
    version,
    async run(file, args, signal) {
      await finish(launch(way, binaries, file, args, 'pipe'), signal);
    },
    start(args, output) {
      const child = launch(way, binaries, binaries.postgres, args, output);
      if (way.watched) stopAfterUs(child);
      return child;
    },
  };
}

/** The child leads a session of its own: a Ctrl-C in our terminal does not reach it. */
function launch(
  way: Way,
  { environment }: Binaries,
  file: string,
  args: readonly string[],
  output: number | 'pipe',
): ChildProcess {
  const [program = '', ...rest] = [...way.prefix, ...UNLESS_ORPHAN, file, ...args];
  return spawn(program, rest, {
    cwd: '/',
    env: environment,
    detached: true,
    stdio: ['ignore', output, output],
    ...way.identity,
  });
}

/** What the program printed. */
function finish(child: ChildProcess, signal?: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => void printed.push(chunk));
  const abort = () => void child.kill('SIGINT');
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  child.once('error', reject);
  child.once('close', (code, killed) => {
    const text = Buffer.concat(printed).toString().trim();
    if (signal?.aborted) reject(signal.reason);
    else if (code === 0) resolve(text);
    else reject(new Error(lastLines(text) || `ended with ${killed ?? `exit code ${code}`}`));
  });
  return promise.finally(() => signal?.removeEventListener('abort', abort));
}

function lastLines(text: string): string {
  return text.split('\n').slice(-4).join(' ');
}
