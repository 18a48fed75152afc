const ROOT = '/workspace';

/**
 * Converts a path in the input of a file tool, relative or below /workspace, to a path of the workspace. Returns undefined
 * for a path outside of the workspace and for the workspace itself.
 */
export function workspacePathOf(given: string): string | undefined {
  const inside = given === ROOT || given.startsWith(`${ROOT}/`) ? given.slice(ROOT.length + 1) : given;
  if (inside.startsWith('/')) return undefined;
  const parts = inside.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') ? undefined : parts.join('/');
}
