import { refuse } from '../../../lib/errors.ts';
import { checkRevision, type ExpectedRevisions } from '../../../lib/revisions.ts';

/** The conditions of a request: entity tags, and the version that an edge of an older release sends instead. */
export interface Preconditions {
  ifRevisions?: ExpectedRevisions | undefined;
  ifVersion?: number | undefined;
}

/** Refused with VERSION_CONFLICT unless the resource, which `noun` names, is at an expected revision and version. */
export function checkPreconditions(
  noun: string,
  { version, revision }: { version: number; revision: number },
  { ifRevisions, ifVersion }: Preconditions,
): void {
  checkRevision(noun, revision, ifRevisions);
  if (ifVersion === undefined || ifVersion === version) return;
  throw refuse(
    'VERSION_CONFLICT',
    `The ${noun} is at version ${version}, not ${ifVersion}. Read it again before you change it.`,
  );
}
