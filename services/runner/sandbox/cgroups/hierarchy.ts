import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const CONTROLLERS = ['memory', 'pids', 'cpu'] as const;
export type Controller = (typeof CONTROLLERS)[number];

/** A tree of control groups, and where this process is in it. */
export interface Hierarchy {
  version: 1 | 2;
  /** Where the tree begins, as far as it can be seen. */
  top: string;
  own: string;
  controllers: readonly Controller[];
}

/** Reads /proc/self/mountinfo and /proc/self/cgroup, or what a test has put in their place. */
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
    const top = plain(mount);
    if (type === 'cgroup2') {
      const path = groups.find(({ controllers }) => controllers[0] === '')?.path;
      return path === undefined
        ? []
        : [{ version: 2, top, own: within(top, root, path), controllers: CONTROLLERS }];
    }
    if (type !== 'cgroup') return [];
    const controllers = CONTROLLERS.filter((one) => options.split(',').includes(one));
    const path = groups.find((group) => controllers.some((one) => group.controllers.includes(one)))?.path;
    return path === undefined ? [] : [{ version: 1, top, own: within(top, root, path), controllers }];
  });
}

/** From where this process is up to where the tree begins. */
export function upwards({ top, own }: Hierarchy): string[] {
  const all = [own];
  for (let path = own; path !== top && path.startsWith(`${top}/`); ) {
    path = dirname(path);
    all.push(path);
  }
  return all;
}

/** In a container, the path is told from outside, and the tree is mounted from a place in it. */
function within(top: string, root: string, path: string): string {
  const below = relative(root, path);
  return below.startsWith('..') ? top : join(top, below);
}

const lines = (text: string): string[] => text.split('\n').filter(Boolean);

/** Blanks in paths are written as octal numbers there. */
const plain = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
