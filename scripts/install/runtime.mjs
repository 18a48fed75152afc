import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The major version of Node that npm scripts must run on. */
export const NEEDED = 24;

const major = (version) => Number.parseInt(version.replace(/^v/, ''), 10);

/** Without starting anything: either our own Node is there, or we run on one that will do. */
export function isLikelyUsable(root) {
  return existsSync(join(root, 'node_modules', '.bin', 'node')) || major(process.versions.node) >= NEEDED;
}

/**
 * npm puts node_modules/.bin first in PATH, and the package for this machine puts its `node` there. Mends that link
 * where it is missing, and takes it away where that Node cannot run (another libc), as it would hide the
 * machine's. Returns what is wrong when scripts still would not run on a new enough Node.
 */
export function makeUsable(root) {
  const bin = join(root, 'node_modules', '.bin');
  const link = join(bin, 'node');
  const name = `node-${process.platform}-${process.arch}`;
  const program = join(root, 'node_modules', name, 'bin', 'node');
  if (existsSync(program) && !versionOf(link)) {
    attempt(() => chmodSync(program, 0o755));
    attempt(() => rmSync(link, { force: true }));
    if (versionOf(program)) attempt(() => symlinkSync(join('..', name, 'bin', 'node'), link));
  }
  const PATH = `${bin}${delimiter}${process.env.PATH ?? ''}`;
  const version = versionOf('node', { ...process.env, PATH });
  if (version && major(version) >= NEEDED) return undefined;
  return version ? `The node of this machine is ${version}.` : 'There is no node in PATH that runs.';
}

function versionOf(program, env = process.env) {
  const { status, stdout } = spawnSync(program, ['--version'], { env, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Packages that belong to another user stay as they are; the version that is found in the end decides. */
function attempt(work) {
  try {
    work();
  } catch {}
}
