import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../../lib/clock.ts';
import { Closed, type Gate } from './gate.ts';

export interface ProxyOptions {
  gate: Gate;
  clock: Clock;
  /** Told of each connection that was not let out. */
  onRefusal(host: string, port: number, reason: string): void;
}

/** At the same time, for one sandbox. */
const MOST_CONNECTIONS = 128;
const IDLE_MS = 60_000;
const LOOK_MS = 5_000;
const LONGEST_MS = 3_600_000;
const MOST_BYTES = 8 * 1024 ** 3;
const HTTP = 80;

/** What concerns only the connection to the proxy itself (RFC 9110, 7.6.1). */
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

/** The way out of a sandbox with a limited network: an HTTP proxy, which looks at each host before it connects. */
export class HttpProxy {
  readonly #server: Server;
  readonly #options: ProxyOptions;
  readonly #sockets = new Set<Socket>();

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#server = createServer({ keepAliveTimeout: IDLE_MS });
    this.#server.on('request', (asked, answer) => void this.#forward(asked, answer));
    this.#server.on('connect', (asked, client, head) => void this.#tunnel(asked, client, head));
    this.#server.on('upgrade', (_, client) => client.end('HTTP/1.1 501 Not Implemented\r\n\r\n'));
    this.#server.on('clientError', (_, client) => client.destroy());
  }

  /** Serves a connection that came from the sandbox. */
  accept(client: Socket): void {
    if (this.#sockets.size >= MOST_CONNECTIONS) {
      client.destroy();
      return;
    }
    this.#limit(client);
    this.#server.emit('connection', client);
  }

  /** Ends all connections. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #tunnel(asked: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const [, host = '', port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(asked.url ?? '') ?? [];
    try {
      const out = await this.#open(host, Number(port));
      this.#limit(out);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      out.write(head);
      client.on('error', () => out.destroy()).on('close', () => out.destroy());
      out.on('error', () => client.destroy()).on('close', () => client.destroy());
      client.pipe(out).pipe(client);
    } catch (error) {
      const { status, message } = asClosed(error);
      client.end(
        `HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${message}\n`,
      );
    }
  }

  async #forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    try {
      const url = URL.canParse(asked.url ?? '') ? new URL(asked.url ?? '') : undefined;
      if (url?.protocol !== 'http:') throw new Closed(403, 'Only http: and CONNECT are known here.');
      const out = await this.#open(url.hostname, Number(url.port || HTTP));
      this.#limit(out);
      const { method } = asked;
      const path = `${url.pathname}${url.search}`;
      const headers = [...passedOn(asked), 'Host', url.host, 'Connection', 'close'];
      const sent = request({ createConnection: () => out, method, path, headers, setHost: false });
      sent.on('response', (heard) => {
        answer.writeHead(heard.statusCode ?? 502, heard.statusMessage, passedOn(heard));
        heard.pipe(answer);
        heard.on('error', () => answer.destroy());
      });
      sent.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
      answer.on('close', () => out.destroy());
      asked.pipe(sent);
    } catch (error) {
      const { status, message } = asClosed(error);
      answer.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' }).end(`${message}\n`);
    }
  }

  async #open(host: string, port: number): Promise<Socket> {
    try {
      return await this.#options.gate.open(host, port);
    } catch (error) {
      this.#options.onRefusal(host, port, asClosed(error).message);
      throw error;
    }
  }

  /** No connection lasts for ever, stands still for long, or brings any amount. */
  #limit(socket: Socket): void {
    this.#sockets.add(socket);
    // HTTP listens no more once a socket is a tunnel, and whoever is in a sandbox may break off when they like.
    socket.on('error', () => socket.destroy());
    let lookedAt = 0;
    let cancel = () => {};
    const look = () => {
      lookedAt += LOOK_MS;
      if (lookedAt >= LONGEST_MS || socket.bytesRead + socket.bytesWritten > MOST_BYTES) socket.destroy();
      else cancel = this.#options.clock.after(LOOK_MS, look);
    };
    cancel = this.#options.clock.after(LOOK_MS, look);
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    socket.once('close', () => {
      cancel();
      this.#sockets.delete(socket);
    });
  }
}

function passedOn({ rawHeaders }: IncomingMessage): string[] {
  const named = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === 'connection')
      for (const name of rawHeaders[at + 1]?.split(',') ?? []) named.add(name.trim().toLowerCase());
  return rawHeaders.flatMap((value, at) => {
    if (at % 2 === 1) return [];
    const name = value.toLowerCase();
    if (name === 'host' || HOP_BY_HOP.has(name) || named.has(name)) return [];
    return [value, rawHeaders[at + 1] ?? ''];
  });
}

const asClosed = (error: unknown): Closed =>
  error instanceof Closed ? error : new Closed(502, 'This host cannot be reached.');
