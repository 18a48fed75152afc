import { statfsSync } from 'node:fs';

/** Free space that sandboxes leave to other uses of the disk, such as the database: the smaller of the two. */
const MAX_RESERVED_BYTES = 512 * 1024 * 1024;
const RESERVED_SHARE = 0.05;
/** Share of the disk's inodes that sandboxes leave free. */
const RESERVED_INODE_SHARE = 0.02;

/** The space of a disk. */
export interface DiskSpace {
  usedBytes: number;
  usedInodes: number;
  /** Free space above the reserve; negative when the reserve is in use. */
  freeBytes: number;
  /** Infinite for file systems without a fixed number of inodes. */
  freeInodes: number;
  reservedBytes: number;
  reservedInodes: number;
}

export function readDiskSpace(path: string): DiskSpace {
  const { bavail, bfree, blocks, bsize, ffree, files } = statfsSync(path);
  const reservedBytes = Math.min(MAX_RESERVED_BYTES, blocks * bsize * RESERVED_SHARE);
  const reservedInodes = files * RESERVED_INODE_SHARE;
  return {
    usedBytes: (blocks - bfree) * bsize,
    usedInodes: files - ffree,
    freeBytes: bavail * bsize - reservedBytes,
    freeInodes: files > 0 ? ffree - reservedInodes : Number.POSITIVE_INFINITY,
    reservedBytes,
    reservedInodes,
  };
}

/** Returns whether the disk would have no free space above its reserve after `additionalBytes` were written. */
export function isNearlyFull(path: string, additionalBytes = 0): boolean {
  const { freeBytes, freeInodes } = readDiskSpace(path);
  return freeInodes < 0 || freeBytes - additionalBytes < 0;
}
