import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const STAMP = join('node_modules', '.installed');

/** The expected stamp: the digest of the lock file, and the platform. */
function expectedStamp(root) {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}\n`;
}

export function isStamped(root) {
  try {
    return readFileSync(join(root, STAMP), 'utf8') === expectedStamp(root);
  } catch {
    return false;
  }
}

/** Writes the stamp. A read-only node_modules has no stamp and is compared each time. */
export function stamp(root) {
  try {
    writeFileSync(join(root, STAMP), expectedStamp(root));
  } catch {}
}

export function removeStamp(root) {
  rmSync(join(root, STAMP), { force: true });
}

const packagesIn = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;

/**
 * Returns whether node_modules is a complete installation of this lock file, also if the user ran npm. npm writes its own
 * list at the end of an installation: it must agree, and no package that this machine needs may be missing. Packages for
 * other machines are always missing, and development packages may be.
 */
export function isComplete(root, withDevelopment) {
  let present;
  try {
    present = packagesIn(join(root, 'node_modules', '.package-lock.json'));
  } catch {
    return false;
  }
  return Object.entries(packagesIn(join(root, 'package-lock.json'))).every(([path, entry]) => {
    if (path === '') return true;
    const found = present[path];
    if (!found)
      return (
        (entry.optional && !isForThisMachine(entry)) || (!withDevelopment && (entry.dev || entry.devOptional))
      );
    const same = found.version === entry.version && found.integrity === entry.integrity;
    return same && existsSync(join(root, path, 'package.json'));
  });
}

/** An optional package without conditions is the dependency of one with conditions. */
function isForThisMachine({ os, cpu, libc }) {
  if (libc || !(os || cpu)) return false;
  return allows(os, process.platform) && allows(cpu, process.arch);
}

function allows(list, value) {
  if (!list) return true;
  const names = [list].flat();
  if (names.includes(`!${value}`)) return false;
  return names.every((name) => name.startsWith('!')) || names.includes(value) || names.includes('any');
}
