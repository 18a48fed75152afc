import { execFileSync, spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

export const isRoot = process.getuid?.() === 0;
export const UNPRIVILEGED_UID = 65_534;

/**
 * Returns the command prefix that runs a program as an unprivileged user, empty if this process is unprivileged. Changes the
 * owner of `directory` to that user.
 */
export function asUnprivilegedUser(uid: number, directory: string): string[] {
  if (!isRoot) return [];
  const change = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const look = `require('fs').readFileSync(${JSON.stringify(import.meta.filename)})`;
  const [program = '', ...args] = [...change, process.execPath, '-e', look];
  // If other users cannot read the checkout, map the user id in a user namespace instead.
  if (spawnSync(program, args, { cwd: dirname(directory) }).status !== 0)
    return ['unshare', '--user', `--map-user=${uid}`, `--map-group=${uid}`];
  execFileSync('chown', ['-R', `${uid}:${uid}`, directory]);
  return change;
}
