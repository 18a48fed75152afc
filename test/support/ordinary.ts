import { execFileSync, spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

export const isRoot = process.getuid?.() === 0;
export const NOBODY = 65_534;

/** What stands before a program so that an ordinary user runs it: nothing when we are one. Gives them the directory. */
export function ordinaryUser(uid: number, directory: string): string[] {
  if (!isRoot) return [];
  const change = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const look = `require('fs').readFileSync(${JSON.stringify(import.meta.filename)})`;
  const [program = '', ...args] = [...change, process.execPath, '-e', look];
  // When the checkout is closed to others, be one in name only.
  if (spawnSync(program, args, { cwd: dirname(directory) }).status !== 0)
    return ['unshare', '--user', `--map-user=${uid}`, `--map-group=${uid}`];
  execFileSync('chown', ['-R', `${uid}:${uid}`, directory]);
  return change;
}
