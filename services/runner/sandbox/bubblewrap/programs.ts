import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** The programs of this machine by which sandboxes are made. */
export interface Programs {
  bwrap: string;
  nsenter: string;
  bash: string;
  mkfifo: string;
}

/** Nothing is started that somebody else could have put into a path of theirs. */
const DIRECTORIES = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin'];
const PACKAGES = { bwrap: 'bubblewrap', nsenter: 'util-linux', bash: 'bash', mkfifo: 'coreutils' };

/** Those that are missing are named with their packages. */
export function findPrograms(): Programs | { missing: string } {
  const bwrap = find('bwrap');
  const nsenter = find('nsenter');
  const bash = find('bash');
  const mkfifo = find('mkfifo');
  if (bwrap && nsenter && bash && mkfifo) return { bwrap, nsenter, bash, mkfifo };
  const found = { bwrap, nsenter, bash, mkfifo };
  const missing = Object.entries(PACKAGES).filter(
    ([name]) => !Object.entries(found).some(([one, path]) => one === name && path),
  );
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
