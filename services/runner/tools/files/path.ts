import { pathProblem } from '../../../../lib/paths.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';

const ROOT = '/workspace';

/**
 * Converts a path of the model, relative or below /workspace as commands see it, to a workspace path; empty for the
 * workspace itself. Throws a ToolError for paths outside of the workspace.
 */
export function workspacePath(given: string): string {
  const inside = given === ROOT || given.startsWith(`${ROOT}/`) ? given.slice(ROOT.length + 1) : given;
  if (inside.startsWith('/'))
    throw new ToolError(`${given} is outside of the workspace. Paths are relative to ${ROOT}.`);
  const path = inside
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
  const problem = path === '' ? undefined : pathProblem(path);
  if (problem) throw new ToolError(`The path ${problem}.`);
  return path;
}

/** Like workspacePath, and rejects the workspace itself. */
export function workspaceFilePath(given: string): string {
  const path = workspacePath(given);
  if (path === '') throw new ToolError('The path is the workspace itself. Give the path of a file.');
  return path;
}
