import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type WebSocket, WebSocketServer } from 'ws';

export interface ProductRequest {
  method: string;
  /** The path without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Aborts when the client closes the connection before the response. */
  signal: AbortSignal;
}

export type ProductResponse =
  | { status: number; headers?: Record<string, string>; body?: string | Uint8Array }
  /** Ends the connection without a response. */
  | 'cut';

export interface ProductHandlers {
  handle(request: ProductRequest): Promise<ProductResponse> | ProductResponse;
  /** Accepts a WebSocket, or returns the status of its refusal. Default: 404 for every path. */
  upgrade?(request: Omit<ProductRequest, 'body' | 'signal'>): ((socket: WebSocket) => void) | number;
  /** Leaves the TCP connection open after the close handshake of a WebSocket. */
  keepsTcpOpen?: boolean;
}

/** An HTTP and WebSocket server of a messaging product on a free port of 127.0.0.1. */
export interface ProductServer extends AsyncDisposable {
  /** The origin, such as `http://127.0.0.1:34567`. */
  url: string;
  /** The origin of WebSockets, such as `ws://127.0.0.1:34567`. */
  socketUrl: string;
  /** Ends all connections, also in the middle of a response. */
  closeConnections(): void;
}

/** Responds with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): ProductResponse {
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers: { ...type, ...headers }, body: JSON.stringify(body) };
}

/** Starts a server. An error of a handler fails the request with status 500 and its stack as text. */
export async function startProductServer(handlers: ProductHandlers): Promise<ProductServer> {
  const { handle, upgrade, keepsTcpOpen = false } = handlers;
  const server = createServer(async (request, response) => {
    const abort = new AbortController();
    response.on('close', () => abort.abort());
    try {
      const body = await buffer(request);
      respond(response, await handle({ ...describe(request), body, signal: abort.signal }));
    } catch (error) {
      respond(response, { status: 500, body: error instanceof Error ? `${error.stack}` : String(error) });
    }
  });

  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    // A client that leaves during the handshake.
    socket.on('error', () => socket.destroy());
    const accept = upgrade?.(describe(request)) ?? 404;
    if (typeof accept === 'number') {
      socket.end(`HTTP/1.1 ${accept} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    } else {
      if (keepsTcpOpen) socket.end = () => socket;
      sockets.handleUpgrade(request, socket, head, accept);
    }
  });

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  function closeConnections(): void {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
  }
  return {
    url: `http://127.0.0.1:${port}`,
    socketUrl: `ws://127.0.0.1:${port}`,
    closeConnections,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      closeConnections();
      await closed;
    },
  };
}

function describe(request: IncomingMessage): Omit<ProductRequest, 'body' | 'signal'> {
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://127.0.0.1');
  return { method: request.method ?? 'GET', path, query, headers: request.headers };
}

function respond(response: ServerResponse, answer: ProductResponse): void {
  if (response.destroyed) return;
  if (answer === 'cut') response.destroy();
  else response.writeHead(answer.status, answer.headers).end(answer.body);
}
