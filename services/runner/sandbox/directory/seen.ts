import { type BigIntStats, constants, lstatSync, readlinkSync } from 'node:fs';
import type { Seen } from '../tree.ts';
import type { Folder } from './folder.ts';

const { S_IFMT, S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK } = constants;
const FORMAT = BigInt(S_IFMT);
const OWNER_MAY_RUN = 0o100n;
const MAX_TARGET_BYTES = 4095;

/** All directories are alike: what is in them is looked at in any case. */
export const DIRECTORY: Seen = {
  kind: 'directory',
  size: 0,
  executable: false,
  changedNs: 0n,
  inode: 0n,
  target: '',
  racy: false,
};

export type Look = { kind: 'seen'; seen: Seen; modifiedAt: Date } | { kind: 'skipped'; reason: string };

/**
 * Looks at one name in a directory, without following it. What has changed at `nowNs` of the file system's own clock,
 * or later, is racy: it could change again and look the same. Throws ENOENT when it is not there any more.
 */
export function look(folder: Folder, name: string, nowNs: bigint): Look {
  const path = folder.at(name);
  const stats = lstatSync(path, { bigint: true });
  switch (Number(stats.mode & FORMAT)) {
    case S_IFREG:
      return found('file', stats, nowNs);
    case S_IFDIR:
      return { kind: 'seen', seen: DIRECTORY, modifiedAt: stats.mtime };
    case S_IFLNK: {
      const target = readTarget(path);
      return target === undefined
        ? skipped('is a symbolic link whose target is too long, or not UTF-8')
        : found('symlink', stats, nowNs, target);
    }
    case S_IFIFO:
      return skipped('is a named pipe');
    case S_IFSOCK:
      return skipped('is a socket');
    default:
      return skipped('is a device');
  }
}

const skipped = (reason: string): Look => ({ kind: 'skipped', reason });

function found(kind: 'file' | 'symlink', stats: BigIntStats, nowNs: bigint, target = ''): Look {
  const { size, mode, ctimeNs, ino, mtime } = stats;
  const seen: Seen = {
    kind,
    size: kind === 'file' ? Number(size) : 0,
    executable: kind === 'file' && (mode & OWNER_MAY_RUN) !== 0n,
    changedNs: ctimeNs,
    inode: ino,
    target,
    racy: ctimeNs >= nowNs,
  };
  return { kind: 'seen', seen, modifiedAt: mtime };
}

function readTarget(path: string): string | undefined {
  const bytes = readlinkSync(path, 'buffer');
  const target = bytes.toString();
  return bytes.length <= MAX_TARGET_BYTES && bytes.equals(Buffer.from(target)) ? target : undefined;
}

/** Whether a path holds what it held before. Two looks at a file that was racy may look the same, and not be. */
export function isSame(before: Seen, now: Seen): boolean {
  if (before.kind !== now.kind) return false;
  if (now.kind === 'directory') return true;
  if (now.kind === 'symlink') return before.target === now.target;
  return (
    !before.racy &&
    before.changedNs === now.changedNs &&
    before.inode === now.inode &&
    before.size === now.size &&
    before.executable === now.executable
  );
}
