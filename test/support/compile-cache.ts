import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIRECTORY = `${ROOT}node_modules/.cache/agent-hosting-service`;

/**
 * Shares one compile cache between all programs that tests start, including those that do not enable it. Node detects changed
 * files itself: https://nodejs.org/api/module.html#module-compile-cache
 */
export default function setup(): void {
  process.env.NODE_COMPILE_CACHE = DIRECTORY;
  if (existsSync(DIRECTORY)) return;
  // Only a program that exits by itself writes the cache, and tests kill most programs.
  spawnSync(process.execPath, ['deploy/compile-cache.js'], { cwd: ROOT });
}
