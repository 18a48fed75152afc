import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** File contents by path relative to a folder. */
export type Documents = Map<string, string>;

/** Reads every file of a folder. Returns an empty map when the folder is missing. */
export async function readTree(folder: string): Promise<Documents> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return new Map(files.map((file, index) => [relative(folder, file), texts[index] ?? '']));
}

/** Returns one line for each file that generation would add, change or remove. */
export function drift(kept: Documents, fresh: Documents): string[] {
  const paths = [...new Set([...kept.keys(), ...fresh.keys()])].sort();
  return paths.flatMap((path) => {
    if (!fresh.has(path)) return [`- ${path}: obsolete`];
    if (!kept.has(path)) return [`+ ${path}: missing`];
    return kept.get(path) === fresh.get(path) ? [] : [`~ ${path}: differs`];
  });
}

/** Writes changed files, removes obsolete ones and leaves the others untouched. */
export async function writeChanges(folder: string, kept: Documents, fresh: Documents): Promise<void> {
  for (const path of kept.keys()) if (!fresh.has(path)) await rm(join(folder, path));
  for (const [path, text] of fresh) {
    if (kept.get(path) === text) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
