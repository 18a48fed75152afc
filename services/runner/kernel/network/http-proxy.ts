import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../../lib/clock.ts';
import { EgressError, type EgressPolicy } from './egress-policy.ts';

interface HttpProxyOptions {
  policy: EgressPolicy;
  clock: Clock;
  /** Called for each connection that was refused. */
  onRefusal(host: string, port: number, reason: string): void;
}

/** Simultaneous connections of one sandbox, in both directions. */
const MAX_CONNECTIONS = 128;
const IDLE_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 5_000;
const MAX_CONNECTION_MS = 3_600_000;
const MAX_CONNECTION_BYTES = 8 * 1024 ** 3;
const HTTP_PORT = 80;

/** Headers that apply to the connection to the proxy only (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** HTTP proxy of a sandbox with a limited network. It checks each host against an EgressPolicy before it connects. */
export class HttpProxy {
  readonly #server: Server;
  readonly #options: HttpProxyOptions;
  readonly #sockets = new Set<Socket>();

  constructor(options: HttpProxyOptions) {
    this.#options = options;
    this.#server = createServer({ keepAliveTimeout: IDLE_TIMEOUT_MS });
    this.#server.on('request', (incoming, response) => void this.#forward(incoming, response));
    this.#server.on('connect', (incoming, client, head) => void this.#tunnel(incoming, client, head));
    this.#server.on('upgrade', (_, client) => client.end('HTTP/1.1 501 Not Implemented\r\n\r\n'));
    this.#server.on('clientError', (_, client) => client.destroy());
  }

  /** Serves a connection from the sandbox. */
  accept(client: Socket): void {
    if (this.#sockets.size >= MAX_CONNECTIONS) {
      client.destroy();
      return;
    }
    this.#limit(client);
    this.#server.emit('connection', client);
  }

  /** Closes all connections. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #tunnel(incoming: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const [, host = '', port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(incoming.url ?? '') ?? [];
    try {
      const out = await this.#open(host, Number(port));
      this.#limit(out);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      out.write(head);
      client.on('error', () => out.destroy()).on('close', () => out.destroy());
      out.on('error', () => client.destroy()).on('close', () => client.destroy());
      client.pipe(out).pipe(client);
    } catch (error) {
      const { status, message } = toEgressError(error);
      client.end(
        `HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${message}\n`,
      );
    }
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = URL.canParse(incoming.url ?? '') ? new URL(incoming.url ?? '') : undefined;
      if (url?.protocol !== 'http:')
        throw new EgressError(403, 'The proxy supports http: URLs and CONNECT only.');
      const out = await this.#open(url.hostname, Number(url.port || HTTP_PORT));
      this.#limit(out);
      const { method } = incoming;
      const path = `${url.pathname}${url.search}`;
      const headers = [...forwardedHeaders(incoming), 'Host', url.host, 'Connection', 'close'];
      const outgoing = request({ createConnection: () => out, method, path, headers, setHost: false });
      outgoing.on('response', (upstream) => {
        response.writeHead(upstream.statusCode ?? 502, upstream.statusMessage, forwardedHeaders(upstream));
        upstream.pipe(response);
        upstream.on('error', () => response.destroy());
      });
      outgoing.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
      response.on('close', () => out.destroy());
      incoming.pipe(outgoing);
    } catch (error) {
      const { status, message } = toEgressError(error);
      response.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' }).end(`${message}\n`);
    }
  }

  async #open(host: string, port: number): Promise<Socket> {
    try {
      return await this.#options.policy.connect(host, port);
    } catch (error) {
      this.#options.onRefusal(host, port, toEgressError(error).message);
      throw error;
    }
  }

  /** Limits the idle time, the duration and the bytes of a connection. */
  #limit(socket: Socket): void {
    this.#sockets.add(socket);
    // The HTTP server removes its error handler from a tunnel, and a client may reset the connection at any time.
    socket.on('error', () => socket.destroy());
    let elapsedMs = 0;
    let cancel = () => {};
    const check = () => {
      elapsedMs += CHECK_INTERVAL_MS;
      if (elapsedMs >= MAX_CONNECTION_MS || socket.bytesRead + socket.bytesWritten > MAX_CONNECTION_BYTES)
        socket.destroy();
      else cancel = this.#options.clock.after(CHECK_INTERVAL_MS, check);
    };
    cancel = this.#options.clock.after(CHECK_INTERVAL_MS, check);
    socket.setTimeout(IDLE_TIMEOUT_MS, () => socket.destroy());
    socket.once('close', () => {
      cancel();
      this.#sockets.delete(socket);
    });
  }
}

function forwardedHeaders({ rawHeaders }: IncomingMessage): string[] {
  const hopByHop = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === 'connection')
      for (const name of rawHeaders[at + 1]?.split(',') ?? []) hopByHop.add(name.trim().toLowerCase());
  return rawHeaders.flatMap((value, at) => {
    if (at % 2 === 1) return [];
    const name = value.toLowerCase();
    if (name === 'host' || HOP_BY_HOP.has(name) || hopByHop.has(name)) return [];
    return [value, rawHeaders[at + 1] ?? ''];
  });
}

const toEgressError = (error: unknown): EgressError =>
  error instanceof EgressError ? error : new EgressError(502, 'The host cannot be reached.');
