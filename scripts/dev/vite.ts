import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createVite } from 'vite';

export interface DevServer extends AsyncDisposable {
  /** Its origin. Nobody opens it but the edge, from which pages come, and with them the address of the socket. */
  url: string;
}

const HOST = '127.0.0.1';

/** Vite's dev server for the sources in a folder, on a free port. It stands on its own: neither a terminal nor a signal ends it. */
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
