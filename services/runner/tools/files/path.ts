import { pathProblem } from '../../../../lib/paths.ts';

const ROOT = '/workspace';

/**
 * How models name what is in a workspace: relative, or as their commands see it, below /workspace. Gives the path as
 * the workspace knows it; empty for the workspace itself. Throws in words for the model.
 */
export function pathIn(given: string): string {
  const inside = given === ROOT || given.startsWith(`${ROOT}/`) ? given.slice(ROOT.length + 1) : given;
  if (inside.startsWith('/'))
    throw new Error(`${given} is not in the workspace: paths are relative to ${ROOT}.`);
  const path = inside
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
  const problem = path === '' ? undefined : pathProblem(path);
  if (problem) throw new Error(`The path ${problem}.`);
  return path;
}

/** The same, of something that is in the workspace. */
export function filePathIn(given: string): string {
  const path = pathIn(given);
  if (path === '') throw new Error('The path names the workspace, and no file in it.');
  return path;
}
