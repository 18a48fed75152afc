/**
 * The system for those who work on it: services start again when they change, and the console is served from its
 * sources, by Vite's dev server behind the edge, and changes in the page at once. Both end on Ctrl-C.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startVite } from './dev/vite.ts';
import { root } from './tool.ts';

await using vite = await startVite(join(root, 'console'));

const services = spawn(
  process.execPath,
  ['--watch', '--watch-preserve-output', 'services/main.ts', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, SERVICE_CONSOLE_DEV_SERVER: vite.url } },
);
const ended = new Promise<number>((resolve) => {
  services.once('error', () => resolve(1));
  services.once('close', (code) => resolve(code ?? 0));
});
// A terminal tells all of its processes; whoever ends this one alone means the services as well.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => services.kill(signal));

process.exitCode = await ended;
