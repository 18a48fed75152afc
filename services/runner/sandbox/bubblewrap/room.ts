import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import type { Ownership } from '../directory/writing.ts';
import { Pipes } from './pipes.ts';
import type { Programs } from './programs.ts';
import type { System } from './system.ts';

export interface RoomOptions {
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

/**
 * What the commands of a sandbox share: a view of the file system in which there is nothing but the system, the
 * workspaces and a disk in memory, and sometimes a network. No process keeps it: it is there as long as this process
 * holds on to it, and goes with this process however that ends.
 */
export class Room implements Disposable {
  readonly pipes: Pipes;
  readonly #options: RoomOptions;
  readonly #held: { mount: number; user: number; network: number; pipes: number };

  private constructor(
    options: RoomOptions,
    held: { mount: number; user: number; network: number; pipes: number },
  ) {
    this.#options = options;
    this.#held = held;
    this.pipes = new Pipes(pathOf(held.pipes), options.programs.mkfifo);
  }

  /** Throws an Error with what bubblewrap said. */
  static async open(options: RoomOptions): Promise<Room> {
    const { programs, owner } = options;
    const own = owner ? `chown ${owner.uid}:${owner.gid} tmp home shm && ` : '';
    const furnish = `cd ${SCRATCH} && mkdir -m 700 tmp home shm pipes && ${own}echo $$ && read`;
    const child = spawn(programs.bwrap, [...argumentsOf(options), programs.bash, '--norc', '-c', furnish], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let said = '';
    let complaint = '';
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    child.stdin.on('error', () => {});
    child.stderr.on('data', (bytes: Buffer) => {
      complaint += bytes.toString();
    });
    child.stdout.on('data', (bytes: Buffer) => {
      said += bytes.toString();
      if (said.endsWith('\n')) resolve(Number(said));
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(complaint.trim() || 'it ended at once')));
    const pid = await promise;
    const held = hold(pid);
    const ended = once(child, 'close');
    child.stdin.end('\n');
    await ended;
    return new Room(options, held);
  }

  /** What has to stand before a program so that it begins in here, as somebody who is nobody outside. */
  get entrance(): [program: string, ...args: string[]] {
    const { programs, owner, hasNetwork } = this.#options;
    const { mount, user, network } = this.#held;
    const who = owner
      ? [`--setuid=${owner.uid}`, `--setgid=${owner.gid}`]
      : [`--user=${pathOf(user)}`, '--preserve-credentials'];
    const where = hasNetwork ? [`--net=${pathOf(network)}`] : [];
    return [programs.nsenter, `--mount=${pathOf(mount)}`, ...where, ...who, '--'];
  }

  /** What has to stand before a program of the runner so that the network of the room is its own. */
  get networkEntrance(): [program: string, ...args: string[]] {
    const { programs, owner } = this.#options;
    const { user, network } = this.#held;
    const who = owner ? [] : [`--user=${pathOf(user)}`, '--preserve-credentials'];
    return [programs.nsenter, `--net=${pathOf(network)}`, ...who, '--'];
  }

  [Symbol.dispose](): void {
    for (const fd of Object.values(this.#held)) closeSync(fd);
  }
}

/** As other processes of the same user can name it, too. */
const pathOf = (fd: number): string => `/proc/${process.pid}/fd/${fd}`;

function hold(pid: number) {
  const directory = constants.O_RDONLY | constants.O_DIRECTORY;
  return {
    mount: openSync(`/proc/${pid}/ns/mnt`, constants.O_RDONLY),
    user: openSync(`/proc/${pid}/ns/user`, constants.O_RDONLY),
    network: openSync(`/proc/${pid}/ns/net`, constants.O_RDONLY),
    pipes: openSync(`/proc/${pid}/root${SCRATCH}/pipes`, directory),
  };
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
    '--die-with-parent',
    // The service makes it as root where it is root, and as itself in a user namespace otherwise.
    ...(owner ? ['--cap-drop', 'ALL', '--cap-add', 'CAP_CHOWN'] : ['--unshare-user']),
    ...(hasNetwork ? ['--unshare-net'] : []),
    ...system.room,
    ...['--dev-bind', '/dev', '/dev', '--bind', '/proc', '/proc', '--dir', '/tmp'],
    ...['--perms', '0755', '--dir', '/sandbox', '--bind', workspaces, workspacesIn(sandboxId)],
    ...['--perms', '0755', '--size', String(scratchBytes), '--tmpfs', SCRATCH],
    '--',
  ];
}
