import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A directory of this machine that is mounted in the simulated tree. */
export interface Mount {
  /** Absolute path in the simulated tree, without a trailing slash. */
  mountPoint: string;
  directory: string;
  /** Temporary files and those of the workspace have limits of their own. Skills are read-only. */
  use: 'workspace' | 'temporary' | 'skill';
}

/** A path after all links were followed: below a mount, or in the simulated system, which is not on disk. */
export type ResolvedPath =
  | { kind: 'disk'; mount: Mount; inner: string; path: string }
  | { kind: 'system'; path: string };

const MAX_LINKS = 40;

export class FsError extends Error {
  readonly code: string;

  constructor(code: string, text: string, path: string) {
    super(`${code}: ${text} '${path}'`);
    this.code = code;
  }
}

/**
 * Resolves the symbolic links in a path relative to the simulated tree. The kernel must not follow them, because it
 * would resolve them relative to the files of this machine.
 */
export function resolve(mounts: readonly Mount[], path: string, followLast: boolean): ResolvedPath {
  const remaining = path.split('/').reverse();
  let resolved: string[] = [];
  let links = 0;
  for (let part = remaining.pop(); part !== undefined; part = remaining.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      resolved.pop();
      continue;
    }
    resolved.push(part);
    const location = locate(mounts, `/${resolved.join('/')}`);
    const isLast = remaining.every((one) => one === '' || one === '.');
    if (location.kind === 'system' || (isLast && !followLast)) continue;
    const target = linkTarget(location);
    if (target === undefined) continue;
    if (++links > MAX_LINKS) throw new FsError('ELOOP', 'too many levels of symbolic links,', path);
    resolved = target.startsWith('/') ? [] : resolved.slice(0, -1);
    remaining.push(...target.split('/').reverse());
  }
  return locate(mounts, `/${resolved.join('/')}`);
}

function locate(mounts: readonly Mount[], path: string): ResolvedPath {
  for (const mount of mounts) {
    if (path === mount.mountPoint) return { kind: 'disk', mount, inner: '', path };
    if (path.startsWith(`${mount.mountPoint}/`))
      return { kind: 'disk', mount, inner: path.slice(mount.mountPoint.length + 1), path };
  }
  return { kind: 'system', path };
}

/** Returns undefined for other entries, and for paths that cannot be read: later operations report the error. */
function linkTarget({ mount, inner }: Extract<ResolvedPath, { kind: 'disk' }>): string | undefined {
  const path = join(mount.directory, inner);
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    return isLink ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
