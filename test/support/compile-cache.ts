import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIRECTORY = `${ROOT}node_modules/.cache/agent-hosting-service`;

/**
 * The programs that tests start are compiled once and not a hundred times. Node keeps by itself to what a file
 * holds now: https://nodejs.org/api/module.html#module-compile-cache
 */
export default function setup(): void {
  process.env.NODE_COMPILE_CACHE = DIRECTORY;
  if (existsSync(DIRECTORY)) return;
  // Only a program that ends in order keeps what it has compiled, and most are killed. This one cannot begin.
  spawnSync(process.execPath, ['services/main.ts', '--target=none'], { cwd: ROOT });
}
