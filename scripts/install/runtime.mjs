import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The major version of Node that npm scripts must run on. */
export const REQUIRED_NODE = 24;

const major = (version) => Number.parseInt(version.replace(/^v/, ''), 10);

/** Checks without starting a process: the Node of the packages is installed, or this Node is new enough. */
export function isLikelyUsable(root) {
  return (
    existsSync(join(root, 'node_modules', '.bin', 'node')) || major(process.versions.node) >= REQUIRED_NODE
  );
}

/**
 * npm puts node_modules/.bin first in PATH, and the Node package of this machine installs its `node` there. Repairs that
 * link where it is missing, and removes it where that Node cannot run (another libc), because it would hide the Node of
 * the machine. Returns the problem when scripts would still not run on a new enough Node.
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
  if (version && major(version) >= REQUIRED_NODE) return undefined;
  return version ? `The node of this machine is ${version}.` : 'PATH contains no working node.';
}

function versionOf(program, env = process.env) {
  const { status, stdout } = spawnSync(program, ['--version'], { env, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Ignores failures, for example for packages of another user. The final version check decides. */
function attempt(work) {
  try {
    work();
  } catch {}
}
