import { refuse } from '../../../lib/errors.ts';
import { FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentKind } from './agent-kind.ts';

/** A user who reads or changes agents. */
export interface AgentViewer {
  /** usr_… */
  userId: string;
  groups: readonly string[];
  isAdministrator: boolean;
}

/** The access of a user to an agent. Each level includes the levels before it. */
export type AccessLevel = 'see' | 'use' | 'manage';

type Visibility = 'private' | 'public' | 'allowlist';

/** The users and groups with access to an agent besides its owner. */
export interface AgentAccess {
  visibility: string;
  /** usr_… */
  managers: string[];
  /** usr_… */
  users: string[];
  /** Names of groups at the identity provider. */
  groups: string[];
}

/** The access list with its version, which starts at 1 and increases by one with each change. */
export interface VersionedAccess {
  access: AgentAccess;
  version: number;
}

export const VISIBILITIES: readonly string[] = ['private', 'public', 'allowlist'] satisfies Visibility[];

const MAX_ENTRIES = 200;
const MAX_GROUP = 200;

/** Refused with FORBIDDEN when the user's level is lower than needed. */
export function requireLevel(level: AccessLevel, needed: AccessLevel, { noun }: AgentKind): void {
  const order: AccessLevel[] = ['see', 'use', 'manage'];
  if (order.indexOf(level) >= order.indexOf(needed)) return;
  throw refuse('FORBIDDEN', `You need permission to ${needed} this ${noun}.`);
}

/** Removes repeated names and keeps their order. */
export function normalizeAccess({ visibility, managers, users, groups }: AgentAccess): AgentAccess {
  return {
    visibility,
    managers: [...new Set(managers)],
    users: [...new Set(users)],
    groups: [...new Set(groups)],
  };
}

/** Refused with INVALID_REQUEST with details of all problems. */
export function checkAccess(access: AgentAccess): void {
  const problems = new FieldProblems();
  problems.oneOf('/visibility', access.visibility, VISIBILITIES);
  for (const member of ['managers', 'users', 'groups'] as const) {
    const names = access[member];
    if (names.length > MAX_ENTRIES) {
      problems.add(`/${member}`, `must have at most ${MAX_ENTRIES} members`);
      continue;
    }
    for (const [index, name] of names.entries()) {
      const pointer = `/${member}${pointerSegment(index)}`;
      if (member === 'groups') problems.characters(pointer, name, 1, MAX_GROUP);
      else if (!isId('usr', name)) problems.add(pointer, 'must be the id of a user');
    }
  }
  problems.throwIfAny();
}
