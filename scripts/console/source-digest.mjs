import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file in the build folder that contains the digest of its sources. */
export const STAMP = '.made-from';
/** Inputs of a build besides the folder of the console. */
const OTHER_INPUTS = ['package-lock.json', 'tsconfig.json', 'scripts/console'];
/** Build output and temporary files of editors. */
const isIgnored = (name) => name === 'dist' || name.startsWith('.') || name.endsWith('~');

/** Returns the digest of the names and contents of all build inputs. File times do not matter. */
export function digestOf(root) {
  const hash = createHash('sha256');
  for (const path of filesBelow(root, ['console', ...OTHER_INPUTS])) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Returns the source digest of the existing build, or undefined when there is none. */
export function builtFrom(root) {
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
    const inside = entries.filter((name) => !isIgnored(name)).sort();
    return filesBelow(
      root,
      inside.map((name) => `${path}/${name}`),
    );
  });
}

/** Returns undefined when the path is not a folder. */
function listing(path) {
  try {
    return readdirSync(path);
  } catch (error) {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
