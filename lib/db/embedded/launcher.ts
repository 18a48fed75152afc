import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { PostgresProblem } from './problem.ts';
import { stopWithParent } from './watchdog.ts';

/** The numeric ids of the user and group that files belong to. */
export interface FileOwner {
  uid: number;
  gid: number;
}

/** A method to run the server as an unprivileged user and to end it with this process. */
interface LaunchMethod {
  name: string;
  /** The command before the program and its arguments. */
  prefix: string[];
  /** The required owner of the server's files; undefined for the current user. */
  owner?: FileOwner;
  /** The user and group that Node sets, when the prefix does not set them. */
  identity?: FileOwner;
  /** Whether a watchdog process is needed because the kernel does not end the server with this process. */
  watched?: boolean;
}

export interface Launcher {
  readonly owner: FileOwner | undefined;
  /** The version that `postgres --version` prints, such as "18.4". */
  readonly version: string;
  /** Runs a program to its end. Rejects with its output when the exit code is not 0. */
  run(file: string, args: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Starts the server with its output in the file descriptor `output`. */
  start(args: readonly string[], output: number): ChildProcess;
}

/** Finds a program of the host. Tests hide some programs. */
export type FindTool = (name: string) => string | undefined;

export const findTool: FindTool = (name) =>
  ['/usr/bin', '/bin', '/usr/sbin', '/sbin']
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));

/** The conventional ids of the user and group `nobody`. */
const UNPRIVILEGED: FileOwner = { uid: 65_534, gid: 65_534 };

/** Checks access to the directory and the programs, and prints the version. */
const PROBE = 'cd "$0" && test -w . && test -x "$2" && exec "$1" --version';

/** Starts the program only if the parent still lives. It can die before the child registers for its death signal. */
const UNLESS_ORPHAN = ['/bin/sh', '-c', 'test "$PPID" = "$0" && exec "$@"', String(process.pid)];

/**
 * Selects the first launch method that works on this host. PostgreSQL refuses to run as root, so root switches to an
 * unprivileged user: in a user namespace, where the files still belong to root, or by changing the user, who must own
 * the files and can pass through directories that are closed to others. `present` is the owner of existing files.
 */
export async function chooseLauncher(options: {
  directory: string;
  binaries: Binaries;
  present: FileOwner | undefined;
  tool: FindTool;
}): Promise<Launcher> {
  const { directory, binaries, present, tool } = options;
  const failures: string[] = [];
  for (const method of launchMethods(present, tool)) {
    try {
      if (method.identity) await chown(directory, method.identity.uid, method.identity.gid);
      const question = ['-c', PROBE, directory, binaries.postgres, binaries.initdb];
      const answer = await outputOf(launch(method, binaries, '/bin/sh', question, 'pipe'));
      const version = /^postgres \(PostgreSQL\) (\d+(?:\.\d+)?)/m.exec(answer)?.[1];
      if (!version) throw new Error(answer);
      return launcherBy(method, binaries, version);
    } catch (error) {
      failures.push(`${method.name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  throw new PostgresProblem(
    `PostgreSQL cannot be run on this machine (${failures.join('; ')})`,
    `a system that can run ${binaries.postgres}, and a user who can enter ${directory}`,
    'start the service as an ordinary user, or set SERVICE_DATABASE_URL to a PostgreSQL of your own',
  );
}

function launchMethods(present: FileOwner | undefined, tool: FindTool): LaunchMethod[] {
  const [unshare, setpriv] = [tool('unshare'), tool('setpriv')];
  const endWithParent = setpriv ? [setpriv, '--pdeathsig', 'INT'] : undefined;
  const unprivilegedMapping = [`--map-user=${UNPRIVILEGED.uid}`, `--map-group=${UNPRIVILEGED.gid}`];
  const namespace =
    unshare && endWithParent ? [unshare, '--user', ...unprivilegedMapping, ...endWithParent] : undefined;
  const found: LaunchMethod[] = [];
  if (process.getuid?.() !== 0) {
    // initdb requires a user name, which the uid of a container can lack.
    if (namespace && !hasName()) found.push({ name: 'user namespace', prefix: namespace });
    if (endWithParent) found.push({ name: 'setpriv', prefix: endWithParent });
    return [...found, { name: 'directly', prefix: [], watched: true }];
  }
  const owner = present && present.uid !== 0 ? present : UNPRIVILEGED;
  if (namespace && (!present || present.uid === 0))
    found.push({ name: 'user namespace', prefix: namespace, owner: { uid: 0, gid: 0 } });
  if (endWithParent) {
    const changeUser = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
    const passDirectories = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
    // access(2), which programs use to find each other, respects that capability only with this bit.
    const respectCapabilities = '--securebits=+no_setuid_fixup';
    found.push({
      name: `user ${owner.uid}`,
      prefix: [...endWithParent, ...changeUser, ...passDirectories, respectCapabilities],
      owner,
    });
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

function launcherBy(method: LaunchMethod, binaries: Binaries, version: string): Launcher {
  return {
    owner: method.owner,
    version,
    async run(file, args, signal) {
      await outputOf(launch(method, binaries, file, args, 'pipe'), signal);
    },
    start(args, output) {
      const child = launch(method, binaries, binaries.postgres, args, output);
      if (method.watched) stopWithParent(child);
      return child;
    },
  };
}

/** The child leads a new session, so that Ctrl-C in the terminal does not reach it. */
function launch(
  method: LaunchMethod,
  { environment }: Binaries,
  file: string,
  args: readonly string[],
  output: number | 'pipe',
): ChildProcess {
  const [program = '', ...rest] = [...method.prefix, ...UNLESS_ORPHAN, file, ...args];
  return spawn(program, rest, {
    cwd: '/',
    env: environment,
    detached: true,
    stdio: ['ignore', output, output],
    ...method.identity,
  });
}

/** Resolves with the output of the program. */
function outputOf(child: ChildProcess, signal?: AbortSignal): Promise<string> {
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
