/**
 * The system for those who work on it: services start again when they change, and the console is served from its
 * sources, by Vite's dev server behind the edge, and changes in the page at once. Ends with either, and on Ctrl-C.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer as createDevServer } from 'vite';
import { root } from './tool.ts';

const host = '127.0.0.1';
// Nobody opens it but the edge, from which pages come, and with them the address of the socket for changes.
const server = createServer();
const vite = await createDevServer({
  root: join(root, 'console'),
  envDir: false,
  appType: 'spa',
  server: { middlewareMode: true, hmr: { server } },
  clearScreen: false,
  logLevel: 'warn',
});
server.on('request', vite.middlewares).listen(0, host);
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

const services = spawn(
  process.execPath,
  ['--watch', '--watch-preserve-output', 'services/main.ts', ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, SERVICE_CONSOLE_DEV_SERVER: `http://${host}:${port}` },
  },
);
const ended = new Promise<number>((resolve) => {
  services.once('error', () => resolve(1));
  services.once('close', (code) => resolve(code ?? 0));
});
// A terminal tells all of its processes; whoever ends this one alone means the services as well.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => services.kill(signal));

process.exitCode = await ended;
await vite.close();
server.close();
server.closeAllConnections();
