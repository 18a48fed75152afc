import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../../lib/clock.ts';
import type { HostAddress } from '../../../../lib/host-patterns.ts';
import { http } from '../../../../lib/http.ts';
import { EgressError, type EgressPolicy } from './egress-policy.ts';
import { forwardedHeaders } from './forwarded-headers.ts';
import { normalizeHost } from './host-name.ts';
import type { Interceptor } from './interceptor.ts';

interface HttpProxyOptions {
  policy: EgressPolicy;
  clock: Clock;
  /** Takes over the connections to hosts with credentials. */
  interceptor?: Interceptor | undefined;
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

/** HTTP proxy of a sandbox with a limited network. It checks each host against an EgressPolicy before it connects. */
export class HttpProxy {
  readonly #server: Server;
  readonly #options: HttpProxyOptions;
  readonly #sockets = new Set<Socket>();

  constructor(options: HttpProxyOptions) {
    this.#options = options;
    this.#server = http.createServer({ keepAliveTimeout: IDLE_TIMEOUT_MS });
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
    this.#options.interceptor?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #tunnel(incoming: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const [, host = '', port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(incoming.url ?? '') ?? [];
    try {
      if (await this.#isIntercepted({ host, port: Number(port) }, 'connect', client, head)) return;
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
      const target = { host: url.hostname, port: Number(url.port || HTTP_PORT) };
      await this.#isIntercepted(target, 'http');
      const out = await this.#open(target.host, target.port);
      this.#limit(out);
      const { method } = incoming;
      const path = `${url.pathname}${url.search}`;
      const headers = [
        ...forwardedHeaders(incoming),
        ...framing(incoming),
        'Host',
        url.host,
        'Connection',
        'close',
      ];
      const outgoing = http.request({ createConnection: () => out, method, path, headers, setHost: false });
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

  /** Returns whether the interceptor serves the client. Rejects with EgressError when it must not reach the host so. */
  async #isIntercepted(
    { host: name, port }: HostAddress,
    protocol: 'http' | 'connect',
    client?: Duplex,
    head?: Buffer,
  ): Promise<boolean> {
    const { interceptor, policy } = this.#options;
    if (!interceptor) return false;
    const target = { host: normalizeHost(name), port };
    const isBound = interceptor.isBound(target);
    const reason = isBound ? interceptor.refusal(target, protocol) : await this.#addressProblem(target.host);
    if (reason !== undefined) {
      this.#options.onRefusal(target.host, port, reason);
      throw new EgressError(403, reason);
    }
    if (!isBound || !client) return false;
    await policy.check(target.host, port);
    if (head && head.length > 0) client.unshift(head);
    await interceptor.accept(client as Socket, target, async () => {
      const out = await this.#open(target.host, port);
      this.#limit(out);
      return out;
    });
    return true;
  }

  /** An address would lead around the interceptor. */
  async #addressProblem(host: string): Promise<string | undefined> {
    const names = this.#options.interceptor?.boundNames ?? [];
    if (!isIP(host) || names.length === 0) return undefined;
    const addresses = await Promise.all(names.map((name) => this.#options.policy.addressesOf(name)));
    return addresses.flat().includes(host)
      ? 'A host with a credential must be addressed by its name.'
      : undefined;
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

const toEgressError = (error: unknown): EgressError =>
  error instanceof EgressError ? error : new EgressError(502, 'The host cannot be reached.');

/** Without it, the body of a method such as DELETE would follow its request as if it were the next one. */
function framing({ headers: { 'transfer-encoding': coding } }: IncomingMessage): string[] {
  return coding === undefined ? [] : ['Transfer-Encoding', coding];
}
