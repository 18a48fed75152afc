import { refuse } from './errors.ts';

/** The revisions that a caller accepts (ahs.common.v1.ExpectedRevisions). An empty list accepts none. */
export interface ExpectedRevisions {
  revisions: readonly number[];
}

/** Refuses with VERSION_CONFLICT a change of a resource, which `noun` names, at a revision that the caller does not accept. */
export function checkRevision(noun: string, revision: number, expected: ExpectedRevisions | undefined): void {
  if (expected === undefined || expected.revisions.includes(revision)) return;
  throw refuse(
    'VERSION_CONFLICT',
    `The ${noun} is at revision ${revision}, which is not in If-Match. Read it again before you change it.`,
  );
}
