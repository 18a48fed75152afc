import { type BigIntStats, constants, lstatSync, readlinkSync } from 'node:fs';
import type { TreeIndexEntry } from '../../sandbox/workspace-tree.ts';
import type { OpenDirectory } from './open-directory.ts';

const { S_IFMT, S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK } = constants;
const FORMAT = BigInt(S_IFMT);
const OWNER_EXECUTE = 0o100n;
const MAX_TARGET_BYTES = 4095;

/** The entry of every directory. Scans visit each directory, so that its own metadata does not matter. */
const DIRECTORY: TreeIndexEntry = {
  kind: 'directory',
  size: 0,
  executable: false,
  changedNs: 0n,
  inode: 0n,
  target: '',
  racy: false,
};

export interface InspectedEntry {
  kind: 'entry';
  entry: TreeIndexEntry;
  modifiedAt: Date;
  /** The bytes that the entry uses on the disk. */
  allocatedBytes: number;
}

export type Inspection = InspectedEntry | { kind: 'skipped'; reason: string };

/** The unit of the size on disk, regardless of the block size of the file system. */
const STAT_BLOCK_BYTES = 512;

/**
 * Inspects one entry of a directory without following a link. An entry that changed at `nowNs` or later is racy: it
 * could change again with the same metadata. `nowNs` is a time of the file system's clock. Throws ENOENT.
 */
export function inspect(directory: OpenDirectory, name: string, nowNs: bigint): Inspection {
  const path = directory.pathOf(name);
  const stats = lstatSync(path, { bigint: true });
  switch (Number(stats.mode & FORMAT)) {
    case S_IFREG:
      return describe('file', stats, nowNs);
    case S_IFDIR:
      return {
        kind: 'entry',
        entry: DIRECTORY,
        modifiedAt: stats.mtime,
        allocatedBytes: allocatedBytesOf(stats),
      };
    case S_IFLNK: {
      const target = readTarget(path);
      return target === undefined
        ? skipped('is a symbolic link whose target is too long, or not UTF-8')
        : describe('symlink', stats, nowNs, target);
    }
    case S_IFIFO:
      return skipped('is a named pipe');
    case S_IFSOCK:
      return skipped('is a socket');
    default:
      return skipped('is a device');
  }
}

const skipped = (reason: string): Inspection => ({ kind: 'skipped', reason });

function describe(kind: 'file' | 'symlink', stats: BigIntStats, nowNs: bigint, target = ''): Inspection {
  const { size, mode, ctimeNs, ino, mtime } = stats;
  const entry: TreeIndexEntry = {
    kind,
    size: kind === 'file' ? Number(size) : 0,
    executable: kind === 'file' && (mode & OWNER_EXECUTE) !== 0n,
    changedNs: ctimeNs,
    inode: ino,
    target,
    racy: ctimeNs >= nowNs,
  };
  return { kind: 'entry', entry, modifiedAt: mtime, allocatedBytes: allocatedBytesOf(stats) };
}

const allocatedBytesOf = ({ blocks }: BigIntStats): number => Number(blocks) * STAT_BLOCK_BYTES;

function readTarget(path: string): string | undefined {
  const bytes = readlinkSync(path, 'buffer');
  const target = bytes.toString();
  return bytes.length <= MAX_TARGET_BYTES && bytes.equals(Buffer.from(target)) ? target : undefined;
}

/** Returns whether two inspections prove that an entry is unchanged. A racy entry may differ with equal metadata. */
export function isUnchanged(before: TreeIndexEntry, current: TreeIndexEntry): boolean {
  if (before.kind !== current.kind) return false;
  if (current.kind === 'directory') return true;
  if (current.kind === 'symlink') return before.target === current.target;
  return (
    !before.racy &&
    before.changedNs === current.changedNs &&
    before.inode === current.inode &&
    before.size === current.size &&
    before.executable === current.executable
  );
}
