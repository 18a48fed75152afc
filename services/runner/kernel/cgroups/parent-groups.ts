import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ParentGroup } from './control-group.ts';
import { ancestorGroups, CONTROLLERS, type Controller, type Hierarchy } from './hierarchy.ts';

/**
 * Returns the directories in which this service can create control groups, one for each hierarchy that enforces one of
 * our limits. Each lies below the group of this process or, where version 2 forbids child groups in a group with
 * processes, beside it. Returns an empty list when no hierarchy is writable.
 */
export function openParentGroups(hierarchies: readonly Hierarchy[], name: string): ParentGroup[] {
  const parentGroups: ParentGroup[] = [];
  for (const hierarchy of hierarchies) {
    const assigned = parentGroups.flatMap(({ controllers }) => controllers);
    const unassigned = hierarchy.controllers.filter((one) => !assigned.includes(one));
    const parentGroup =
      hierarchy.version === 1
        ? openVersion1(hierarchy, unassigned, name)
        : openVersion2(hierarchy, unassigned, name);
    if (parentGroup) parentGroups.push(parentGroup);
  }
  return parentGroups;
}

function openVersion1(
  { own }: Hierarchy,
  controllers: readonly Controller[],
  name: string,
): ParentGroup | undefined {
  const path = join(own, name);
  return controllers.length > 0 && createWritable(path) ? { version: 1, path, controllers } : undefined;
}

function openVersion2(
  hierarchy: Hierarchy,
  requested: readonly Controller[],
  name: string,
): ParentGroup | undefined {
  for (const above of ancestorGroups(hierarchy)) {
    // A group that this process does not belong to keeps its settings.
    const delegated = requested.filter((one) => delegates(above, one, above === hierarchy.own));
    const path = join(above, name);
    if (delegated.length === 0 || !createWritable(path)) continue;
    const controllers = delegated.filter((one) => delegates(path, one, true));
    if (controllers.length > 0) return { version: 2, path, controllers };
  }
  return undefined;
}

/** Returns whether the children of a group can use a controller. Enables it when the group is this service's own. */
function delegates(group: string, controller: Controller, isOwn: boolean): boolean {
  const file = join(group, 'cgroup.subtree_control');
  try {
    if (has(file, controller)) return true;
    if (!isOwn) return false;
    writeFileSync(file, `+${controller}`);
    return has(file, controller);
  } catch {
    return false;
  }
}

const has = (file: string, controller: Controller): boolean =>
  readFileSync(file, 'utf8').trim().split(' ').includes(controller);

function createWritable(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(join(path, 'cgroup.procs'), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the controllers that at least one of the parent groups enforces. */
export const enforcedControllers = (parentGroups: readonly ParentGroup[]): ReadonlySet<Controller> =>
  new Set(CONTROLLERS.filter((one) => parentGroups.some(({ controllers }) => controllers.includes(one))));
