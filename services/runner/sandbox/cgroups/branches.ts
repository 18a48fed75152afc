import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Branch } from './group.ts';
import { CONTROLLERS, type Controller, type Hierarchy, upwards } from './hierarchy.ts';

/**
 * Where the groups of this service can be made, one directory for each tree that keeps one of our limits: below the
 * group of this process or, where the rules of version 2 do not let a group with processes have such groups, beside
 * it. Empty when no tree can be written.
 */
export function openBranches(hierarchies: readonly Hierarchy[], name: string): Branch[] {
  const branches: Branch[] = [];
  for (const hierarchy of hierarchies) {
    const taken = branches.flatMap(({ controllers }) => controllers);
    const wanted = hierarchy.controllers.filter((one) => !taken.includes(one));
    const branch =
      hierarchy.version === 1 ? openFirst(hierarchy, wanted, name) : openSecond(hierarchy, wanted, name);
    if (branch) branches.push(branch);
  }
  return branches;
}

function openFirst({ own }: Hierarchy, wanted: readonly Controller[], name: string): Branch | undefined {
  const path = join(own, name);
  return wanted.length > 0 && made(path) ? { version: 1, path, controllers: wanted } : undefined;
}

function openSecond(hierarchy: Hierarchy, wanted: readonly Controller[], name: string): Branch | undefined {
  for (const above of upwards(hierarchy)) {
    // What others have made is taken as it is.
    const given = wanted.filter((one) => gives(above, one, above === hierarchy.own));
    const path = join(above, name);
    if (given.length === 0 || !made(path)) continue;
    const controllers = given.filter((one) => gives(path, one, true));
    if (controllers.length > 0) return { version: 2, path, controllers };
  }
  return undefined;
}

/** Whether the groups in a group can have a limit; one that is ours gives it from now on. */
function gives(group: string, controller: Controller, isOurs: boolean): boolean {
  const file = join(group, 'cgroup.subtree_control');
  try {
    if (has(file, controller)) return true;
    if (!isOurs) return false;
    writeFileSync(file, `+${controller}`);
    return has(file, controller);
  } catch {
    return false;
  }
}

const has = (file: string, controller: Controller): boolean =>
  readFileSync(file, 'utf8').trim().split(' ').includes(controller);

function made(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(join(path, 'cgroup.procs'), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Those that any of the branches keeps. */
export const keptBy = (branches: readonly Branch[]): ReadonlySet<Controller> =>
  new Set(CONTROLLERS.filter((one) => branches.some(({ controllers }) => controllers.includes(one))));
