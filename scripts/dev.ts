/**
 * Runs the system for development. Services restart when their code changes. Vite's dev server serves the console behind
 * the edge and updates open pages. Ctrl-C stops both.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startVite } from './dev/vite.ts';
import { root } from './tool.ts';

await using vite = await startVite(join(root, 'console'));

const services = spawn(
  process.execPath,
  ['--watch', '--watch-preserve-output', 'services/main.js', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, SERVICE_CONSOLE_DEV_SERVER: vite.url } },
);
const ended = new Promise<number>((resolve) => {
  services.once('error', () => resolve(1));
  services.once('close', (code) => resolve(code ?? 0));
});
// A terminal signals all of its processes. A signal to this process alone is passed on to the services.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => services.kill(signal));

process.exitCode = await ended;
