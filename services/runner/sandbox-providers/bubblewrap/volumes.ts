import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { setPriority, constants as systemConstants } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SandboxError } from '../../sandbox/sandbox-error.ts';
import type { CopyVolumes, VolumePriority } from '../copy-volumes.ts';
import type { CopySpace } from '../space/space-limits.ts';
import { startNamespaceHolder } from './mount-namespace.ts';
import type { Programs, VolumePrograms } from './programs.ts';

const run = promisify(execFile);
const LOWEST_PRIORITY = systemConstants.priority.PRIORITY_LOW;

const BLOCK_BYTES = 4096;
const INODE_BYTES = 256;
/** Inodes that ext4 itself uses. */
const OWN_INODES = 16;
/** A block of 4096 bytes is the bitmap of one group. */
const MAX_GROUP_BLOCKS = 8 * BLOCK_BYTES;
const MAX_GROUP_INODES = 8 * BLOCK_BYTES;
/** Per group: two bitmaps and the descriptor. */
const GROUP_BLOCKS = 3;
/** ext4 keeps 2 % of a file system, at most this many blocks, for its own use. */
const MAX_OWN_BLOCKS = 4096;
const FORMAT_OPTIONS = [
  '-q',
  '-F',
  '-t',
  'ext4',
  '-b',
  String(BLOCK_BYTES),
  '-I',
  String(INODE_BYTES),
  '-m',
  '0',
];
// A volume does not outlive the runner, so it needs neither a journal nor barriers. `discard` returns the space of
// deleted files to the disk.
const FEATURES = ['-O', '^has_journal,^resize_inode', '-E', 'lazy_itable_init=1,nodiscard'];
const PROBE_BYTES = 1024 * 1024;
const MOUNT_OPTIONS = 'nodev,nosuid,noatime,discard,noinit_itable,barrier=0';

/**
 * Formats and mounts an image. Arguments: image, mount point, losetup, the number of words of the mount command, these
 * words, and the words of the format command. The loop device is set up outside the mount namespace: its open image would
 * otherwise keep the mounts alive when the directory is deleted under them. `--detach` releases a device in use when it is
 * unmounted.
 */
const CREATE = [
  'image=$1 target=$2 losetup=$3 count=$4; shift 4',
  `mount=("\${@:1:count}"); shift "$count"`,
  '"$@" "$image" || exit',
  'device=$("$losetup" --find --show -- "$image") || exit',
  `"\${mount[@]}" -- "$device" "$target"; status=$?`,
  '"$losetup" --detach "$device"; exit "$status"',
].join('\n');

interface VolumeOptions {
  /** The directory below which volumes are mounted. */
  directory: string;
  programs: Programs & VolumePrograms;
}

/**
 * File systems in sparse files, which limit bytes and files of a workspace copy by the kernel. They are mounted in a
 * mount namespace that exists as long as this process keeps it open. When this process ends in any way, the kernel
 * unmounts them. Requires root.
 */
export class Volumes implements CopyVolumes, Disposable {
  readonly #options: VolumeOptions;
  readonly #namespace: number;
  readonly #root: number;

  private constructor(options: VolumeOptions, handles: { namespace: number; root: number }) {
    this.#options = options;
    this.#namespace = handles.namespace;
    this.#root = handles.root;
  }

  /** Throws a SandboxError or system error when this machine cannot mount volumes. */
  static async open(options: VolumeOptions): Promise<Volumes> {
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    await using holder = await startNamespaceHolder(options.directory, options.programs);
    const namespace = openSync(`/proc/${holder.pid}/ns/mnt`, constants.O_RDONLY);
    const root = openSync(`/proc/${holder.pid}/root`, constants.O_RDONLY | constants.O_DIRECTORY);
    return new Volumes(options, { namespace, root });
  }

  /** The program and arguments that start a further program in the mount namespace. */
  get enterArguments(): [program: string, ...args: string[]] {
    return [this.#options.programs.nsenter, `--mount=/proc/${process.pid}/fd/${this.#namespace}`, '--'];
  }

  /** Returns the path by which this process reaches an absolute path of the mount namespace. */
  pathOf(path: string): string {
    return `/proc/self/fd/${this.#root}${path}`;
  }

  /** Creates a volume with at least this space and mounts it. `image` must not exist, and `mountPoint` must. */
  async create(
    image: string,
    mountPoint: string,
    space: CopySpace,
    priority: VolumePriority = 'normal',
  ): Promise<void> {
    const { bash, mke2fs, mount, losetup } = this.#options.programs;
    const { blocks, inodes, groupBlocks } = layoutOf(space);
    writeFileSync(image, '', { flag: 'wx', mode: 0o600 });
    truncateSync(image, blocks * BLOCK_BYTES);
    const format = [...FORMAT_OPTIONS, ...FEATURES, '-N', String(inodes), '-g', String(groupBlocks)];
    const enter = [...this.enterArguments, mount, '-t', 'ext4', '-o', MOUNT_OPTIONS];
    const paths = [image, mountPoint, losetup, String(enter.length)];
    const argv = [bash, '--norc', '-c', CREATE, 'bash', ...paths, ...enter, mke2fs, ...format];
    await this.#run(argv, priority);
  }

  /**
   * Deletes the files of a volume and unmounts it. Deleting them first spares the kernel from writing them to the disk.
   * The caller deletes the image.
   */
  async remove(mountPoint: string): Promise<void> {
    const { bash, umount } = this.#options.programs;
    const script = 'rm -rf -- "$1"/*; "$2" -- "$1" 2>/dev/null || exec "$2" --lazy -- "$1"';
    await this.#run([...this.enterArguments, bash, '--norc', '-c', script, 'bash', mountPoint, umount]);
  }

  /** Mounts a small volume and removes it. Throws a SandboxError when this machine cannot. */
  async probe(): Promise<void> {
    const { directory } = this.#options;
    const [image, mountPoint] = [join(directory, `.probe-${process.pid}`), join(directory, '.probe')];
    mkdirSync(mountPoint, { recursive: true });
    try {
      await this.create(image, mountPoint, { bytes: PROBE_BYTES, entries: 1 });
      await this.remove(mountPoint);
    } finally {
      rmSync(image, { force: true });
      rmdirSync(mountPoint);
    }
  }

  /** Returns the bytes that a volume uses on the disk. */
  usedBytes(image: string): number {
    return statSync(image).blocks * 512;
  }

  [Symbol.dispose](): void {
    closeSync(this.#namespace);
    closeSync(this.#root);
  }

  async #run(argv: readonly string[], priority: VolumePriority = 'normal'): Promise<void> {
    const [program = '', ...args] = argv;
    try {
      const running = run(program, args, { cwd: '/', env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' } });
      const { pid } = running.child;
      if (priority === 'low' && pid !== undefined) setPriority(pid, LOWEST_PRIORITY);
      await running;
    } catch (error) {
      const { stderr = '' } = error as { stderr?: string };
      throw new SandboxError(stderr.trim().split('\n')[0] || 'a volume could not be mounted', {
        cause: error,
      });
    }
  }
}

/** Returns the layout of a file system that has at least this space for files. */
export function layoutOf({ bytes, entries }: CopySpace): {
  blocks: number;
  inodes: number;
  groupBlocks: number;
} {
  const inodes = entries + OWN_INODES;
  const inodeBlocks = Math.ceil((inodes * INODE_BYTES) / BLOCK_BYTES);
  const dataBlocks = Math.ceil(bytes / BLOCK_BYTES);
  const groups = Math.ceil(
    Math.max((inodeBlocks + dataBlocks) / (MAX_GROUP_BLOCKS - GROUP_BLOCKS), inodes / MAX_GROUP_INODES),
  );
  const used = inodeBlocks + dataBlocks + groups * GROUP_BLOCKS;
  const blocks = used + Math.ceil(Math.min(MAX_OWN_BLOCKS, used * 0.02)) + 64;
  // The size of a group must be a multiple of 8.
  const groupBlocks = Math.min(MAX_GROUP_BLOCKS, Math.ceil(blocks / groups / 8) * 8);
  return { blocks, inodes, groupBlocks };
}
