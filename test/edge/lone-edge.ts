import { type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from '../../edge/app.ts';
import { type AuthMode, settings } from '../../edge/config.ts';
import { readSettings } from '../../lib/env.ts';
import { loneContext } from '../../scripts/reference/access.ts';
import type { Seen } from './envelope.ts';

/** An answer, with its body as it came: nothing is unpacked. */
export interface Received extends Seen {
  bytes: Buffer;
}

export interface LoneEdge extends AsyncDisposable {
  url: string;
  /** Sends the path exactly as it is written. */
  ask(path: string, headers?: Record<string, string>, method?: string): Promise<Received>;
}

export interface Setup {
  authMode: AuthMode;
  /** Where the console was built. */
  folder: string;
  environment?: Record<string, string>;
}

/** An edge that listens and has nobody to ask: enough for what it answers by itself. */
export async function startLoneEdge({ authMode, folder, environment = {} }: Setup): Promise<LoneEdge> {
  const config = { ...readSettings(settings, environment, []), authMode };
  const { app, begin } = await createApp(loneContext(), config, folder);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  begin(new URL(url));
  return {
    url,
    ask: (path, headers = {}, method = 'GET') => ask({ port, path, headers, method }),
    async [Symbol.asyncDispose]() {
      const closed = app.close();
      app.server.closeAllConnections();
      await closed;
    },
  };
}

interface Asked {
  port: number;
  path: string;
  headers: Record<string, string>;
  method: string;
}

function ask(asked: Asked): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', agent: false, ...asked }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const headers = { get: (name: string) => textOf(response.headers, name) };
        resolve({ status: response.statusCode ?? 0, headers, bytes, text: bytes.toString() });
      });
    });
    sent.on('error', reject).end();
  });
}

function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
