import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, opendirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../../../lib/clock.ts';
import { childrenOf, ProcessHandle } from '../../kernel/processes.ts';
import { SandboxError } from '../../sandbox/sandbox-error.ts';
import type { Ownership } from '../directory/write-file.ts';
import { PipePool } from './pipes.ts';
import type { Programs } from './programs.ts';
import type { SystemMounts } from './system-mounts.ts';

interface NamespaceSetOptions {
  clock: Clock;
  programs: Programs;
  systemMounts: SystemMounts;
  sandboxId: string;
  /** The directory with one directory for each workspace copy. */
  workspaces: string;
  /** The directory with the copies of skills of this runner. */
  skillDirectory: string;
  /** Starts a program in the mount namespace with the volumes of the copies; empty without volumes. */
  enterVolumes: readonly string[];
  /** Limit for temporary files, the home directory and shared memory together. */
  scratchBytes: number;
  /** The user of the sandbox; undefined when it is the user of this process. */
  owner: Ownership | undefined;
  /** Whether the commands share a network namespace of their own. */
  hasNetwork: boolean;
}

/** Mount points in the namespaces. */
export const SCRATCH = '/scratch';
export const SKILL_COPIES = '/skill-copies';
/** Holds the certificates that commands trust. */
export const TRUST = `${SCRATCH}/trust`;
export const workspacesMountPoint = (sandboxId: string): string => `/sandbox/${sandboxId}`;

const NAMESPACES = ['mnt', 'user', 'net', 'pid'] as const;
/** Open file descriptors. They keep the namespaces reachable without looking up the holder's pid again. */
type NamespaceHandles = Record<(typeof NAMESPACES)[number] | 'scratch', number>;
/** Commands see these directories as /tmp, their home directory and /dev/shm. */
const SCRATCH_DIRECTORIES = ['tmp', 'home', 'shm'];

/**
 * The namespaces that all commands of a sandbox share: a mount namespace with nothing but the system, the workspaces
 * and a tmpfs; optionally a network namespace; and a pid namespace. The first process of the pid namespace, the
 * namespace holder, reads from a pipe of this process until end of file. When this process ends in any way, the pipe
 * closes, the holder exits, and the kernel kills every process in the pid namespace.
 */
export class NamespaceSet implements AsyncDisposable {
  readonly pipes: PipePool;
  readonly #options: NamespaceSetOptions;
  readonly #bwrap: ChildProcess;
  readonly #namespaceHolder: ProcessHandle;
  readonly #handles: NamespaceHandles;
  readonly #trusted = new Map<string, string>();

  private constructor(options: NamespaceSetOptions, bwrap: ChildProcess, namespaceHolder: ProcessHandle) {
    this.#options = options;
    this.#bwrap = bwrap;
    this.#namespaceHolder = namespaceHolder;
    this.#handles = openHandles(namespaceHolder.pid);
    this.pipes = new PipePool(`${this.#scratch}/pipes`, options.programs.mkfifo);
    // The holder does not notice the end of bubblewrap.
    bwrap.once('exit', () => namespaceHolder.kill());
  }

  /** Throws a SandboxError with the standard error output of bubblewrap. No process is left behind then. */
  static async open(options: NamespaceSetOptions): Promise<NamespaceSet> {
    const { programs, owner, clock } = options;
    const names = SCRATCH_DIRECTORIES.join(' ');
    const chown = owner ? `chown ${owner.uid}:${owner.gid} ${names} && ` : '';
    const script = `cd ${SCRATCH} && mkdir -m 700 ${names} pipes && mkdir -m 755 trust && ${chown}echo ready && read`;
    const shell = [programs.bash, '--norc', '-c', script];
    const argv = [...options.enterVolumes, programs.bwrap, ...holderArguments(options), ...shell];
    const [program = '', ...args] = argv;
    const bwrap = spawn(program, args, { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
    let stderr = '';
    bwrap.stdin.on('error', () => {});
    bwrap.stderr.on('data', (bytes: Buffer) => {
      stderr += bytes.toString();
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    bwrap.stdout.once('data', () => resolve());
    bwrap.once('error', reject);
    bwrap.once('close', () =>
      reject(new SandboxError(stderr.trim() || 'bubblewrap ended without a message')),
    );
    await promise;
    const pid = bwrap.pid ?? 0;
    try {
      const [first = 0] = childrenOf(pid);
      const namespaceHolder = ProcessHandle.find(first);
      if (!namespaceHolder) throw new SandboxError('the first process of the sandbox was not found');
      return new NamespaceSet(options, bwrap, namespaceHolder);
    } catch (error) {
      await ProcessHandle.killTree(pid, clock);
      throw error;
    }
  }

  /** Whether bubblewrap, and with it the namespace holder, still runs. */
  get isAlive(): boolean {
    return this.#bwrap.exitCode === null && this.#bwrap.signalCode === null;
  }

  /** Whether the tmpfs holds no files, so that the namespaces can be closed without losing any. */
  get isEmpty(): boolean {
    try {
      return SCRATCH_DIRECTORIES.every((name) => isEmptyDirectory(`${this.#scratch}/${name}`));
    } catch {
      // A command has removed the read permission of the directory.
      return false;
    }
  }

  /** Writes a file with certificates that commands trust, unless it has this content already. */
  trust(name: string, certificates: string): void {
    if (this.#trusted.get(name) === certificates) return;
    const path = `${this.#scratch}/trust/${name}`;
    // Running commands read the earlier file or the new one.
    writeFileSync(`${path}.new`, certificates, { mode: 0o644 });
    renameSync(`${path}.new`, path);
    this.#trusted.set(name, certificates);
  }

  /** The program and arguments that start a further program in the namespaces, as a user without any privilege. */
  get enterArguments(): [program: string, ...args: string[]] {
    const { programs, owner, hasNetwork } = this.#options;
    const { mnt, pid } = this.#handles;
    const user = owner ? [`--setuid=${owner.uid}`, `--setgid=${owner.gid}`] : this.#userArguments;
    const network = hasNetwork ? [this.#networkArgument] : [];
    return [programs.nsenter, `--mount=${pathOf(mnt)}`, `--pid=${pathOf(pid)}`, ...network, ...user, '--'];
  }

  /** The program and arguments that start a program of the runner in the network namespace only. */
  get enterNetworkArguments(): [program: string, ...args: string[]] {
    const { programs, owner } = this.#options;
    return [programs.nsenter, this.#networkArgument, ...(owner ? [] : this.#userArguments), '--'];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const fd of Object.values(this.#handles)) closeSync(fd);
    this.#namespaceHolder.kill();
    if (this.isAlive) await once(this.#bwrap, 'exit');
    await this.#namespaceHolder.waitUntilGone(this.#options.clock);
  }

  get #scratch(): string {
    return pathOf(this.#handles.scratch);
  }

  get #networkArgument(): string {
    return `--net=${pathOf(this.#handles.net)}`;
  }

  get #userArguments(): string[] {
    return [`--user=${pathOf(this.#handles.user)}`, '--preserve-credentials'];
  }
}

/** A path of the file that other processes of the same user can open, too. */
const pathOf = (fd: number): string => `/proc/${process.pid}/fd/${fd}`;

/** Reads one name only, because the directory may hold any number. */
function isEmptyDirectory(path: string): boolean {
  using directory = opendirSync(path);
  return directory.readSync() === null;
}

/** Throws the error of the first handle that cannot be opened; the others are closed then. */
function openHandles(pid: number): NamespaceHandles {
  const opened: number[] = [];
  const open = (path: string, flags: number): number => {
    const fd = openSync(path, flags);
    opened.push(fd);
    return fd;
  };
  try {
    const [mnt = -1, user = -1, net = -1, own = -1] = NAMESPACES.map((name) =>
      open(`/proc/${pid}/ns/${name}`, constants.O_RDONLY),
    );
    const scratch = open(`/proc/${pid}/root${SCRATCH}`, constants.O_RDONLY | constants.O_DIRECTORY);
    return { mnt, user, net, pid: own, scratch };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  }
}

function holderArguments({
  systemMounts,
  sandboxId,
  workspaces,
  skillDirectory,
  scratchBytes,
  owner,
  hasNetwork,
}: NamespaceSetOptions): string[] {
  return [
    // A service that runs as root creates the namespaces as root; any other one uses a user namespace.
    ...(owner ? ['--cap-drop', 'ALL', '--cap-add', 'CAP_CHOWN'] : ['--unshare-user']),
    ...['--unshare-pid', '--as-pid-1', '--new-session', ...(hasNetwork ? ['--unshare-net'] : [])],
    ...systemMounts.forNamespaceSet,
    ...['--dev-bind', '/dev', '/dev', '--proc', '/proc', '--dir', '/tmp'],
    // As root, bubblewrap covers parts of /proc. The kernel lets commands mount a /proc of their own only where an
    // uncovered one is visible.
    ...['--bind', '/proc', '/whole-proc'],
    ...['--perms', '0755', '--dir', '/sandbox', '--bind', workspaces, workspacesMountPoint(sandboxId)],
    ...['--ro-bind', skillDirectory, SKILL_COPIES],
    ...['--perms', '0755', '--size', String(scratchBytes), '--tmpfs', SCRATCH],
    '--',
  ];
}
