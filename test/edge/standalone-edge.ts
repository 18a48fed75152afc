import { type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from '../../edge/app.ts';
import { type AuthMode, settings } from '../../edge/config.ts';
import { readSettings } from '../../lib/env/read-settings.ts';
import { standaloneContext } from '../../scripts/reference/access.ts';
import type { ReceivedResponse } from './envelope.ts';

/** A response with its raw body, not decompressed. */
export interface RawResponse extends ReceivedResponse {
  bytes: Buffer;
}

export interface StandaloneEdge extends AsyncDisposable {
  url: string;
  /** Sends the path without normalization. */
  send(path: string, headers?: Record<string, string>, method?: string): Promise<RawResponse>;
}

interface Setup {
  authMode: AuthMode;
  /** The folder of the console build. */
  folder: string;
  environment?: Record<string, string>;
}

/** Starts an edge without services, for routes that it serves by itself. */
export async function startStandaloneEdge({
  authMode,
  folder,
  environment = {},
}: Setup): Promise<StandaloneEdge> {
  const config = { ...readSettings(settings, environment, []), authMode };
  const { app, setListeningUrl: begin } = await createApp(standaloneContext(), config, folder);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  begin(new URL(url));
  return {
    url,
    send: (path, headers = {}, method = 'GET') => sendRequest({ port, path, headers, method }),
    async [Symbol.asyncDispose]() {
      const closed = app.close();
      app.server.closeAllConnections();
      await closed;
    },
  };
}

interface SentRequest {
  port: number;
  path: string;
  headers: Record<string, string>;
  method: string;
}

function sendRequest(sent: SentRequest): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', agent: false, ...sent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const headers = { get: (name: string) => textOf(response.headers, name) };
        resolve({ status: response.statusCode ?? 0, headers, bytes, text: bytes.toString() });
      });
    });
    outgoing.on('error', reject).end();
  });
}

function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
