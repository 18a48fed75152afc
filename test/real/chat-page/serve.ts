import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const HTML =
  '<!doctype html><title>chat</title><div id="root"></div><script type="module" src="/page.js"></script>';

export interface ChatPage extends AsyncDisposable {
  origin: string;
}

/** Bundles the chat page with the packages of `alias` and serves it on a port of its own. */
export async function serveChatPage(alias: Record<string, string>): Promise<ChatPage> {
  const files = await bundle(alias);
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://page');
    const script = files.get(pathname);
    if (script !== undefined) response.setHeader('Content-Type', 'text/javascript');
    else if (pathname === '/') response.setHeader('Content-Type', 'text/html');
    else response.statusCode = 404;
    response.end(script ?? (pathname === '/' ? HTML : ''));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The scripts of the page by path. */
async function bundle(alias: Record<string, string>): Promise<Map<string, string>> {
  const result = await build({
    root: fileURLToPath(new URL('.', import.meta.url)),
    configFile: false,
    logLevel: 'error',
    resolve: { alias },
    build: {
      write: false,
      target: 'esnext',
      minify: false,
      modulePreload: false,
      rolldownOptions: {
        input: fileURLToPath(new URL('page.js', import.meta.url)),
        output: { entryFileNames: 'page.js' },
      },
    },
  });
  const outputs = [result].flat().flatMap((one) => ('output' in one ? one.output : []));
  return new Map(outputs.flatMap((one) => (one.type === 'chunk' ? [[`/${one.fileName}`, one.code]] : [])));
}
