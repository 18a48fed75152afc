import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A web site of another origin on this machine. Every path returns a page with `attack` (hostile.page.js). */
export interface HostilePage extends AsyncDisposable {
  port: number;
}

export async function openHostilePage(): Promise<HostilePage> {
  const script = await readFile(new URL('hostile.page.js', import.meta.url), 'utf8');
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><title>hostile</title><body></body><script>${script}</script>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
