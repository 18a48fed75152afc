import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, opendirSync, openSync } from 'node:fs';
import type { Clock } from '../../../../lib/clock.ts';
import type { Ownership } from '../directory/writing.ts';
import { Pipes } from './pipes.ts';
import { childrenOf, Process } from './processes.ts';
import type { Programs } from './programs.ts';
import type { System } from './system.ts';

export interface RoomOptions {
  clock: Clock;
  programs: Programs;
  system: System;
  sandboxId: string;
  /** The directory with a directory for each workspace. */
  workspaces: string;
  /** Of temporary files, the home and shared memory together. */
  scratchBytes: number;
  /** Whose they are; absent when they are those of this process. */
  owner: Ownership | undefined;
  /** It has a network of its own, which all its commands share. */
  hasNetwork: boolean;
}

/** Where things are in a room. */
export const SCRATCH = '/scratch';
export const workspacesIn = (sandboxId: string): string => `/sandbox/${sandboxId}`;

const NAMESPACES = ['mnt', 'user', 'net', 'pid'] as const;
type Held = Record<(typeof NAMESPACES)[number] | 'scratch', number>;
/** What commands find as /tmp, their home and /dev/shm. */
const KEPT = ['tmp', 'home', 'shm'];

/**
 * What the commands of a sandbox share: a view of the file system in which there is nothing but the system, the
 * workspaces and a disk in memory; sometimes a network; and a process namespace in which all of them run. Its
 * first process is a keeper, which reads from this process until there is nothing more to read. However this process ends, the
 * keeper then does, and the kernel ends all that runs in the room, whatever it is about to do.
 */
export class Room implements AsyncDisposable {
  readonly pipes: Pipes;
  readonly #options: RoomOptions;
  readonly #around: ChildProcess;
  readonly #keeper: Process;
  readonly #held: Held;

  private constructor(options: RoomOptions, around: ChildProcess, keeper: Process) {
    this.#options = options;
    this.#around = around;
    this.#keeper = keeper;
    this.#held = hold(keeper.pid);
    this.pipes = new Pipes(`${this.#scratch}/pipes`, options.programs.mkfifo);
    // Without bubblewrap around it, nobody would hear of its end.
    around.once('exit', () => keeper.end());
  }

  /** Throws an Error with what bubblewrap said. */
  static async open(options: RoomOptions): Promise<Room> {
    const { programs, owner } = options;
    const own = owner ? `chown ${owner.uid}:${owner.gid} ${KEPT.join(' ')} && ` : '';
    const furnish = `cd ${SCRATCH} && mkdir -m 700 ${KEPT.join(' ')} pipes && ${own}echo ready && read`;
    const around = spawn(programs.bwrap, [...argumentsOf(options), programs.bash, '--norc', '-c', furnish], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let complaint = '';
    around.stdin.on('error', () => {});
    around.stderr.on('data', (bytes: Buffer) => {
      complaint += bytes.toString();
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    around.stdout.once('data', () => resolve());
    around.once('error', reject);
    around.once('close', () => reject(new Error(complaint.trim() || 'it ended at once')));
    await promise;
    const [first = 0] = childrenOf(around.pid ?? 0);
    const keeper = Process.find(first);
    if (!keeper) throw new Error('the room has no keeper');
    return new Room(options, around, keeper);
  }

  /** Its keeper is there, and with it all else. */
  get isThere(): boolean {
    return this.#around.exitCode === null && this.#around.signalCode === null;
  }

  /** Whether its end would lose nothing: there is nothing on its disk in memory. */
  get isEmpty(): boolean {
    try {
      return KEPT.every((name) => hasNothing(`${this.#scratch}/${name}`));
    } catch {
      // Its owner has locked what is there.
      return false;
    }
  }

  /** What has to stand before a program so that it begins in here, as somebody who is nobody outside. */
  get entrance(): [program: string, ...args: string[]] {
    const { programs, owner, hasNetwork } = this.#options;
    const { mnt, pid } = this.#held;
    const who = owner ? [`--setuid=${owner.uid}`, `--setgid=${owner.gid}`] : this.#asUser;
    const where = hasNetwork ? [this.#network] : [];
    return [programs.nsenter, `--mount=${pathOf(mnt)}`, `--pid=${pathOf(pid)}`, ...where, ...who, '--'];
  }

  /** What has to stand before a program of the runner so that the network of the room is its own. */
  get networkEntrance(): [program: string, ...args: string[]] {
    const { programs, owner } = this.#options;
    return [programs.nsenter, this.#network, ...(owner ? [] : this.#asUser), '--'];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const fd of Object.values(this.#held)) closeSync(fd);
    this.#keeper.end();
    if (this.isThere) await once(this.#around, 'exit');
    await this.#keeper.gone(this.#options.clock);
  }

  get #scratch(): string {
    return pathOf(this.#held.scratch);
  }

  get #network(): string {
    return `--net=${pathOf(this.#held.net)}`;
  }

  get #asUser(): string[] {
    return [`--user=${pathOf(this.#held.user)}`, '--preserve-credentials'];
  }
}

/** As other processes of the same user can name it, too. */
const pathOf = (fd: number): string => `/proc/${process.pid}/fd/${fd}`;

/** However much there is, one name says enough. */
function hasNothing(path: string): boolean {
  using directory = opendirSync(path);
  return directory.readSync() === null;
}

function hold(pid: number): Held {
  const [mnt = -1, user = -1, net = -1, own = -1] = NAMESPACES.map((name) =>
    openSync(`/proc/${pid}/ns/${name}`, constants.O_RDONLY),
  );
  const directory = constants.O_RDONLY | constants.O_DIRECTORY;
  return { mnt, user, net, pid: own, scratch: openSync(`/proc/${pid}/root${SCRATCH}`, directory) };
}

function argumentsOf({
  system,
  sandboxId,
  workspaces,
  scratchBytes,
  owner,
  hasNetwork,
}: RoomOptions): string[] {
  return [
    // The service makes it as root where it is root, and as itself in a user namespace otherwise.
    ...(owner ? ['--cap-drop', 'ALL', '--cap-add', 'CAP_CHOWN'] : ['--unshare-user']),
    ...['--unshare-pid', '--as-pid-1', '--new-session', ...(hasNetwork ? ['--unshare-net'] : [])],
    ...system.room,
    ...['--dev-bind', '/dev', '/dev', '--proc', '/proc', '--dir', '/tmp'],
    // Where bubblewrap is root, it covers parts of the one before; commands may have one of their own only where a whole one is.
    ...['--bind', '/proc', '/whole-proc'],
    ...['--perms', '0755', '--dir', '/sandbox', '--bind', workspaces, workspacesIn(sandboxId)],
    ...['--perms', '0755', '--size', String(scratchBytes), '--tmpfs', SCRATCH],
    '--',
  ];
}
