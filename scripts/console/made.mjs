import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In the folder that was built; says what from. */
export const STAMP = '.made-from';
/** What a build depends on besides the console's own folder. */
const ALSO = ['package-lock.json', 'tsconfig.json', 'scripts/console'];
/** Made by a build, or by an editor that has a file open. */
const isNoSource = (name) => name === 'dist' || name.startsWith('.') || name.endsWith('~');

/** A digest of all that the console is made from: names and contents, whenever they were written. */
export function digestOf(root) {
  const hash = createHash('sha256');
  for (const path of filesBelow(root, ['console', ...ALSO])) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** The digest of what the console that is there was made from; undefined when there is none. */
export function madeFrom(root) {
  try {
    return readFileSync(join(root, 'console', 'dist', STAMP), 'utf8');
  } catch {
    return undefined;
  }
}

export function isBuilt(root) {
  return existsSync(join(root, 'console', 'dist', 'index.html'));
}

function filesBelow(root, paths) {
  return paths.flatMap((path) => {
    if (!existsSync(join(root, path))) return [];
    const entries = listing(join(root, path));
    if (!entries) return [path];
    const inside = entries.filter((name) => !isNoSource(name)).sort();
    return filesBelow(
      root,
      inside.map((name) => `${path}/${name}`),
    );
  });
}

/** Undefined for what is no folder. */
function listing(path) {
  try {
    return readdirSync(path);
  } catch (error) {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
