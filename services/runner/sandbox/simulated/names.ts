import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A directory of this machine that stands somewhere in the simulated tree. */
export interface Mount {
  /** Absolute, without a slash at its end. */
  at: string;
  root: string;
  /** Its size counts against what the sandbox may keep in temporary files. */
  isTemporary: boolean;
}

/** A name after all links were followed: below a mount, or in the system, which is nowhere on the disk. */
export type Spot =
  | { kind: 'disk'; mount: Mount; inner: string; path: string }
  | { kind: 'system'; path: string };

const MAX_LINKS = 40;

export class FsError extends Error {
  readonly code: string;

  constructor(code: string, words: string, path: string) {
    super(`${code}: ${words} '${path}'`);
    this.code = code;
  }
}

/**
 * Follows the links in a path as they mean it inside: the kernel is never asked to follow one, as it would take them
 * to the files of this machine.
 */
export function resolve(mounts: readonly Mount[], path: string, followLast: boolean): Spot {
  const ahead = path.split('/').reverse();
  let there: string[] = [];
  let links = 0;
  for (let part = ahead.pop(); part !== undefined; part = ahead.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      there.pop();
      continue;
    }
    there.push(part);
    const spot = spotOf(mounts, `/${there.join('/')}`);
    const isLast = ahead.every((one) => one === '' || one === '.');
    if (spot.kind === 'system' || (isLast && !followLast)) continue;
    const target = linkAt(spot);
    if (target === undefined) continue;
    if (++links > MAX_LINKS) throw new FsError('ELOOP', 'too many levels of symbolic links,', path);
    there = target.startsWith('/') ? [] : there.slice(0, -1);
    ahead.push(...target.split('/').reverse());
  }
  return spotOf(mounts, `/${there.join('/')}`);
}

function spotOf(mounts: readonly Mount[], path: string): Spot {
  for (const mount of mounts) {
    if (path === mount.at) return { kind: 'disk', mount, inner: '', path };
    if (path.startsWith(`${mount.at}/`))
      return { kind: 'disk', mount, inner: path.slice(mount.at.length + 1), path };
  }
  return { kind: 'system', path };
}

/** What cannot be looked at is no link: whoever works with it hears why, and follows none. */
function linkAt({ mount, inner }: Extract<Spot, { kind: 'disk' }>): string | undefined {
  const path = join(mount.root, inner);
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    return isLink ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
