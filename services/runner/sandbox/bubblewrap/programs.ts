import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** The programs of this machine by which sandboxes are made. */
export interface Programs {
  bwrap: string;
  nsenter: string;
  prlimit: string;
  bash: string;
  mkfifo: string;
}

/** Nothing is started that somebody else could have put into a path of theirs. */
const DIRECTORIES = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin'];
const PACKAGES = {
  bwrap: 'bubblewrap',
  nsenter: 'util-linux',
  prlimit: 'util-linux',
  bash: 'bash',
  mkfifo: 'coreutils',
};

/** Those that are missing are named with their packages. */
export function findPrograms(): Programs | { missing: string } {
  const [bwrap, nsenter, prlimit, bash, mkfifo] = ['bwrap', 'nsenter', 'prlimit', 'bash', 'mkfifo'].map(find);
  if (bwrap && nsenter && prlimit && bash && mkfifo) return { bwrap, nsenter, prlimit, bash, mkfifo };
  const missing = Object.entries(PACKAGES).filter(([name]) => find(name) === undefined);
  return { missing: missing.map(([name, owner]) => `${name} (package ${owner})`).join(', ') };
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
