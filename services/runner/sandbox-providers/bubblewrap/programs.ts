import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Paths of the programs of this machine that create sandboxes. */
export interface Programs {
  bwrap: string;
  nsenter: string;
  prlimit: string;
  bash: string;
  mkfifo: string;
}

/** Paths of the programs that create file systems for workspace copies. */
export interface VolumePrograms {
  unshare: string;
  mount: string;
  umount: string;
  mke2fs: string;
  losetup: string;
}

/** Fixed directories instead of PATH, so that no other user can substitute a program. */
const DIRECTORIES = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin'];
const PACKAGES = {
  bwrap: 'bubblewrap',
  nsenter: 'util-linux',
  prlimit: 'util-linux',
  bash: 'bash',
  mkfifo: 'coreutils',
};

/** Returns the programs, or the names of the missing ones with their packages. */
export function findPrograms(): Programs | { missing: string } {
  const [bwrap, nsenter, prlimit, bash, mkfifo] = ['bwrap', 'nsenter', 'prlimit', 'bash', 'mkfifo'].map(find);
  if (bwrap && nsenter && prlimit && bash && mkfifo) return { bwrap, nsenter, prlimit, bash, mkfifo };
  const missing = Object.entries(PACKAGES).filter(([name]) => find(name) === undefined);
  return { missing: missing.map(([name, owner]) => `${name} (package ${owner})`).join(', ') };
}

/** Returns the programs, or the names of the missing ones. */
export function findVolumePrograms(): VolumePrograms | { missing: string } {
  const names = ['unshare', 'mount', 'umount', 'mke2fs', 'losetup'];
  const [unshare, mount, umount, mke2fs, losetup] = names.map(find);
  if (unshare && mount && umount && mke2fs && losetup) return { unshare, mount, umount, mke2fs, losetup };
  return { missing: names.filter((name) => !find(name)).join(', ') };
}

function find(name: string): string | undefined {
  return DIRECTORIES.map((directory) => join(directory, name)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
