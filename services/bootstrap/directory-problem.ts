import type { DirectoryProblem } from '../../lib/directory.ts';
import type { SettingProblem } from '../../lib/env.ts';

/** Returns the problem of a directory that a setting names. */
export function directoryProblem(
  variable: string,
  { message, expected, fix }: DirectoryProblem,
): SettingProblem {
  return { variable, problem: `: ${message}`, expected, fix };
}
