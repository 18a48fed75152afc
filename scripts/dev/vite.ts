import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createVite } from 'vite';

export interface DevServer extends AsyncDisposable {
  /** The origin of the dev server. Only the edge sends requests to it; browsers get pages and the socket from the edge. */
  url: string;
}

const HOST = '127.0.0.1';

/** Starts Vite's dev server for a folder on a free port. It does not react to the terminal or to signals. */
export async function startVite(folder: string): Promise<DevServer> {
  const server = createServer();
  const vite = await createVite({
    root: folder,
    envDir: false,
    appType: 'spa',
    server: { middlewareMode: true, hmr: { server } },
    clearScreen: false,
    logLevel: 'warn',
  });
  server.on('request', vite.middlewares).listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${port}`,
    async [Symbol.asyncDispose]() {
      await vite.close();
      server.close();
      server.closeAllConnections();
    },
  };
}
