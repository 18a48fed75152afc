import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const CONTROLLERS = ['memory', 'pids', 'cpu'] as const;
export type Controller = (typeof CONTROLLERS)[number];

/** A hierarchy of control groups and the position of this process in it. */
export interface Hierarchy {
  version: 1 | 2;
  /** The directory of the topmost group that is visible to this process. */
  top: string;
  /** The directory of the group of this process. */
  own: string;
  controllers: readonly Controller[];
}

/** Reads the hierarchies from /proc/self/mountinfo and /proc/self/cgroup; tests replace `read`. */
export function readHierarchies(
  read = (name: string) => readFileSync(`/proc/self/${name}`, 'utf8'),
): Hierarchy[] {
  const groups = lines(read('cgroup')).map((line) => {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    return { controllers: controllers.split(','), path };
  });
  return lines(read('mountinfo')).flatMap((line): Hierarchy[] => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '', mount = ''] = before.split(' ');
    const [type, , options = ''] = after.split(' ');
    const top = unescapePath(mount);
    if (type === 'cgroup2') {
      const path = groups.find(({ controllers }) => controllers[0] === '')?.path;
      return path === undefined
        ? []
        : [{ version: 2, top, own: visiblePath(top, root, path), controllers: CONTROLLERS }];
    }
    if (type !== 'cgroup') return [];
    const controllers = CONTROLLERS.filter((one) => options.split(',').includes(one));
    const path = groups.find((group) => controllers.some((one) => group.controllers.includes(one)))?.path;
    return path === undefined ? [] : [{ version: 1, top, own: visiblePath(top, root, path), controllers }];
  });
}

/** Returns the group of this process and its ancestors, up to the topmost visible group. */
export function ancestorGroups({ top, own }: Hierarchy): string[] {
  const paths = [own];
  for (let path = own; path !== top && path.startsWith(`${top}/`); ) {
    path = dirname(path);
    paths.push(path);
  }
  return paths;
}

/** In a container, the path is relative to the host's hierarchy, of which only the part below `root` is mounted. */
function visiblePath(top: string, root: string, path: string): string {
  const below = relative(root, path);
  return below.startsWith('..') ? top : join(top, below);
}

const lines = (text: string): string[] => text.split('\n').filter(Boolean);

/** mountinfo writes spaces in paths as octal escapes. */
const unescapePath = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
