import { refuse } from '../../../lib/errors.ts';
import { isId } from '../../../lib/ids.ts';
import type { Kind } from './kind.ts';
import { Problems, step } from './problems.ts';

/** Somebody who looks at agents. */
export interface Viewer {
  /** usr_… */
  userId: string;
  groups: readonly string[];
  isAdministrator: boolean;
}

/** What they may do with one: each includes those before it. */
export type Level = 'see' | 'use' | 'manage';

export type Visibility = 'private' | 'public' | 'allowlist';

/** Who else may do what with an agent. */
export interface Access {
  visibility: string;
  /** usr_… */
  managers: string[];
  /** usr_… */
  users: string[];
  /** Names. */
  groups: string[];
}

/** As it is at one of its versions: 1 at first, and one more with each change. */
export interface AccessVersion {
  access: Access;
  version: number;
}

export const VISIBILITIES: readonly string[] = ['private', 'public', 'allowlist'] satisfies Visibility[];

const MAX_ENTRIES = 200;
const MAX_GROUP = 200;

/** Refused with FORBIDDEN when they see it, but may not. */
export function requireLevel(level: Level, needed: Level, { noun }: Kind): void {
  const order: Level[] = ['see', 'use', 'manage'];
  if (order.indexOf(level) >= order.indexOf(needed)) return;
  throw refuse('FORBIDDEN', `only who ${needed === 'use' ? 'may use' : 'manages'} the ${noun} may do this`);
}

/** Without repetitions, in the order in which they came. */
export function tidyAccess({ visibility, managers, users, groups }: Access): Access {
  return {
    visibility,
    managers: [...new Set(managers)],
    users: [...new Set(users)],
    groups: [...new Set(groups)],
  };
}

/** Refuses what is no access, and names all that is wrong with it. */
export function checkAccess(access: Access): void {
  const problems = new Problems();
  problems.oneOf('/visibility', access.visibility, VISIBILITIES);
  for (const member of ['managers', 'users', 'groups'] as const) {
    const names = access[member];
    if (names.length > MAX_ENTRIES) {
      problems.add(`/${member}`, `must have at most ${MAX_ENTRIES} members`);
      continue;
    }
    for (const [index, name] of names.entries()) {
      const pointer = `/${member}${step(index)}`;
      if (member === 'groups') problems.characters(pointer, name, 1, MAX_GROUP);
      else if (!isId('usr', name)) problems.add(pointer, 'is not the id of a user');
    }
  }
  problems.settle();
}
