import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const STAMP = join('node_modules', '.installed');

/** What node_modules must have been made from: this lock file, on this kind of machine. */
function wanted(root) {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}\n`;
}

export function isStamped(root) {
  try {
    return readFileSync(join(root, STAMP), 'utf8') === wanted(root);
  } catch {
    return false;
  }
}

/** A read-only node_modules goes without and is compared each time. */
export function stamp(root) {
  try {
    writeFileSync(join(root, STAMP), wanted(root));
  } catch {}
}

export function removeStamp(root) {
  rmSync(join(root, STAMP), { force: true });
}

const packagesIn = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;

/**
 * Whether npm has finished making node_modules from this lock file, perhaps by a command of the user.
 * npm's own list, written at the end, must say the same, and no package may be missing that this machine
 * needs: packages for other machines always are, and those for development may be.
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
      return (entry.optional && !isForUs(entry)) || (!withDevelopment && (entry.dev || entry.devOptional));
    const same = found.version === entry.version && found.integrity === entry.integrity;
    return same && existsSync(join(root, path, 'package.json'));
  });
}

/** Optional packages without conditions of their own belong to one that has them. */
function isForUs({ os, cpu, libc }) {
  if (libc || !(os || cpu)) return false;
  return allows(os, process.platform) && allows(cpu, process.arch);
}

function allows(list, value) {
  if (!list) return true;
  const names = [list].flat();
  if (names.includes(`!${value}`)) return false;
  return names.every((name) => name.startsWith('!')) || names.includes(value) || names.includes('any');
}
