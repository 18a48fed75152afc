import { refuse } from '../../../lib/errors.ts';

/** Refused with VERSION_CONFLICT when the caller has seen another version of the resource, which `noun` names. */
export function checkVersion(noun: string, { version }: { version: number }, seen: number | undefined): void {
  if (seen === undefined || seen === version) return;
  throw refuse(
    'VERSION_CONFLICT',
    `The ${noun} is at version ${version}, not ${seen}. Read it again before you change it.`,
  );
}
