/** Folders whose subfolders belong to different teams, so each subfolder needs an entry of its own. */
const SHARED = ['services', 'proto', 'proto/ahs', 'test', 'test/services'];

/**
 * Returns one line for each folder without an entry and for each entry without a file. The catch-all entry `*` covers
 * files at the root only. Paths are relative to the root, with forward slashes.
 */
export function ownerProblems(codeowners: string, paths: readonly string[]): string[] {
  const entries = codeowners
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
    .filter(([pattern = '']) => pattern !== '');
  const patterns = entries.map(([pattern = '']) => pattern).filter((pattern) => pattern !== '*');
  const folders = [...new Set(paths.flatMap(ownedFolders))].sort();
  return [
    ...entries.filter(([, ...owners]) => owners.length === 0).map(([pattern]) => `${pattern}: no owner`),
    ...folders
      .filter((folder) => !patterns.some((pattern) => `/${folder}/`.startsWith(pattern)))
      .map((folder) => `${folder}/: no entry covers this folder`),
    ...patterns
      .filter((pattern) => !paths.some((path) => `/${path}`.startsWith(pattern)))
      .map((pattern) => `${pattern}: no file is at this path`),
  ];
}

/** The folders above a file that need an entry: the top-level folder, or its subfolders where teams share it. */
function ownedFolders(path: string): string[] {
  const folders = path.split('/').slice(0, -1);
  const trails = folders.map((_, depth) => folders.slice(0, depth + 1).join('/'));
  const owned = trails.find((trail) => !SHARED.includes(trail));
  return owned ? [owned] : [];
}
