import { refuse } from '../../../lib/errors.ts';

/** Refuses a change of a thing, which the sentence calls `noun`, by somebody who has seen another version of it. */
export function checkVersion(noun: string, { version }: { version: number }, seen: number | undefined): void {
  if (seen === undefined || seen === version) return;
  throw refuse('VERSION_CONFLICT', `the ${noun} is at version ${version}, not ${seen}`);
}
