import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFolder } from '../../lib/bundled-packages.js';

const PROGRAM = join('scripts', 'install', 'bundle.mjs');

/**
 * Bundles the packages that lib/bundled-packages.js names, unless that is done. Without the build tools, and when the folder
 * is read-only, there is no bundle: the service then loads the packages as they are.
 */
export function bundlePackages(root) {
  const packages = join(root, 'node_modules');
  if (!existsSync(join(packages, 'vite', 'package.json'))) return;
  if (existsSync(bundleFolder(root)) || !isWritable(packages)) return;
  const node = join(packages, '.bin', 'node');
  spawnSync(existsSync(node) ? node : process.execPath, [PROGRAM], { cwd: root, stdio: 'ignore' });
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
