import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SkillDirectory } from '../../services/runner/sandbox-providers/skill-directory.ts';
import { readDiskSpace } from '../../services/runner/sandbox-providers/space/disk-reserve.ts';
import { isRoot } from '../support/unprivileged-user.ts';

const MIB = 1024 * 1024;

/** A file system of 4 MiB in memory. */
function openSmallDisk() {
  const path = mkdtempSync(join(tmpdir(), 'ahs-skill-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,nr_inodes=64', 'tmpfs', path]);
  return {
    path,
    [Symbol.dispose]() {
      execFileSync('umount', [path]);
      rmSync(path, { recursive: true });
    },
  };
}

async function* zeros(bytes: number): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < bytes; sent += MIB) yield Buffer.alloc(MIB);
}

if (isRoot) {
  describe('a copy of a skill on a disk that becomes full', () => {
    it.each([
      ['bytes', [8 * MIB]],
      ['inodes', Array.from({ length: 100 }, () => 0)],
    ])('leaves nothing behind and frees the %s', async (_, sizes) => {
      using disk = openSmallDisk();
      const directory = new SkillDirectory({
        path: disk.path,
        maxBytes: 100 * MIB,
        readDisk: () => readDiskSpace(disk.path),
      });
      const before = readDiskSpace(disk.path);
      const attributes = { executable: false, modifiedAt: new Date(0) };
      const copying = directory.create(
        async (tree) => {
          await tree.makeDirectory('d');
          for (const [index, size] of sizes.entries())
            await tree.putFile(`d/f${index}`, zeros(size), attributes);
        },
        async () => {},
      );
      await expect(copying).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(readdirSync(disk.path)).toEqual(['.staging']);
      expect(readdirSync(join(disk.path, '.staging'))).toEqual([]);
      const { usedBytes, usedInodes } = readDiskSpace(disk.path);
      expect({ usedBytes, usedInodes }).toEqual({
        usedBytes: before.usedBytes,
        usedInodes: before.usedInodes,
      });
    });
  });
}
