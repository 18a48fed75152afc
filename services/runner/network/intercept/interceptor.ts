import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';
import type { Clock } from '../../../../lib/clock.ts';
import type { HostAddress } from '../../../../lib/host-patterns.ts';
import { http } from '../../../../lib/http.ts';
import type { Log } from '../../../../lib/log.ts';
import { normalizeHost } from '../../kernel/network/host-name.ts';
import type { Interceptor } from '../../kernel/network/interceptor.ts';
import { CertificateAuthority } from './certificate-authority.ts';
import { EchoFound } from './echo-scanner.ts';
import type { EgressCredentials } from './egress-credentials.ts';
import type { EgressMetrics, EgressOutcome } from './egress-metrics.ts';
import { type ClientConnection, exchange } from './exchange.ts';
import { ProxyRefusal } from './proxy-refusal.ts';
import { RecentSecrets } from './recent-secrets.ts';
import { SandboxCredentials } from './sandbox-credentials.ts';
import { UpstreamPool } from './upstream-pool.ts';

interface InterceptorOptions {
  clock: Clock;
  log: Pick<Log, 'debug' | 'warn'>;
  metrics: EgressMetrics;
  /** The trusted root certificates of hosts. */
  roots(): SecureContext;
}

/** A connection with at most one request at a time. */
interface ServedConnection extends ClientConnection {
  /** Ends the current request. */
  current?: AbortController | undefined;
}

const IDLE_TIMEOUT_MS = 60_000;

/**
 * Answers in the name of the hosts that credentials of a sandbox are bound to, and forwards requests with the credentials.
 * The sandbox trusts the certificate authority of this interceptor, which no other sandbox trusts.
 */
export class TlsInterceptor implements Interceptor {
  readonly #options: InterceptorOptions;
  readonly #sandbox = new SandboxCredentials();
  readonly #secrets: RecentSecrets;
  readonly #pool: UpstreamPool;
  readonly #server: Server;
  readonly #connections = new WeakMap<Duplex, ServedConnection>();
  #authority: Promise<CertificateAuthority> | undefined;

  constructor(options: InterceptorOptions) {
    this.#options = options;
    this.#secrets = new RecentSecrets(options.clock);
    this.#pool = new UpstreamPool(options.roots);
    this.#server = http.createServer({ keepAliveTimeout: IDLE_TIMEOUT_MS, insecureHTTPParser: false });
    this.#server.on('request', (incoming, response) => void this.#serve(incoming, response));
    this.#server.on('connect', (_, socket) => this.#close(socket, 501));
    this.#server.on('upgrade', (_, socket) => this.#close(socket, 501));
    this.#server.on('clientError', (_, socket) => this.#close(socket, 400));
  }

  /** Lets commands of a turn use its credentials until the result is disposed. */
  enter(credentials: EgressCredentials): Disposable {
    return this.#sandbox.enter(credentials);
  }

  /** The certificate that commands must trust, as PEM. */
  async certificate(): Promise<string> {
    return (await this.#renewedAuthority()).certificate;
  }

  get boundNames(): readonly string[] {
    return this.#sandbox.boundNames;
  }

  isBound(target: HostAddress): boolean {
    return this.#sandbox.isBound(target);
  }

  refusal(target: HostAddress, protocol: 'http' | 'connect'): string | undefined {
    return this.#sandbox.refusal(target, protocol);
  }

  async accept(client: Socket, target: HostAddress, connect: () => Promise<Socket>): Promise<void> {
    const authority = await (this.#authority ?? this.#renewedAuthority());
    const secureContext = await authority.contextFor(target.host);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const encrypted = new TLSSocket(client, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
    encrypted.on('error', () => encrypted.destroy());
    encrypted.once('secure', () => {
      const { servername } = encrypted as { servername?: unknown };
      const isSame = typeof servername === 'string' && normalizeHost(servername) === target.host;
      const refusal = isSame ? undefined : 'The TLS server name differs from the host of the connection.';
      this.#connections.set(encrypted, { ...target, connect, refusal });
      this.#server.emit('connection', encrypted);
    });
  }

  close(): void {
    this.#secrets.clear();
    this.#pool.close();
    this.#server.close();
  }

  /** Concurrent callers share one authority. */
  async #renewedAuthority(): Promise<CertificateAuthority> {
    const current = this.#authority;
    if (current && (await current).isExpiring && this.#authority === current) this.#authority = undefined;
    this.#authority ??= CertificateAuthority.create(this.#options.clock);
    return await this.#authority;
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = this.#connections.get(incoming.socket);
    if (!connection) return void incoming.socket.destroy();
    if (connection.current) {
      // The client has sent a request before the answer to its last one: a way to hide a request in another.
      connection.current.abort(new ProxyRefusal(400, 'The proxy supports one request at a time.'));
      return;
    }
    const { clock, metrics } = this.#options;
    const startedAt = clock.now().getTime();
    const current = new AbortController();
    connection.current = current;
    response.once('close', () => current.abort(new Error('the client has closed the connection')));
    let outcome: EgressOutcome = 'forwarded';
    let bytes = 0;
    try {
      const context = { sandbox: this.#sandbox, secrets: this.#secrets, pool: this.#pool, clock };
      bytes = await exchange(incoming, response, connection, context, current.signal);
      if (!incoming.readableEnded) response.once('finish', () => incoming.socket.destroy());
    } catch (error) {
      outcome = this.#fail(current.signal.aborted ? current.signal.reason : error, response);
    } finally {
      connection.current = undefined;
    }
    const hostClass = this.#sandbox.boundHost(connection) ? 'header' : 'variable';
    metrics.noteRequest(hostClass, outcome);
    this.#log(incoming, response, connection.host, bytes, clock.now().getTime() - startedAt);
  }

  #fail(error: unknown, response: ServerResponse): EgressOutcome {
    if (error instanceof EchoFound) {
      this.#secrets.reportEcho(error);
      refuse(response, 502, 'The answer of the host contained a credential and was withheld.');
      return 'echo';
    }
    const refusal = error instanceof ProxyRefusal ? error : undefined;
    refuse(response, refusal?.status ?? 502, refusal?.message ?? 'The request could not be forwarded.');
    return refusal && refusal.status !== 502 ? 'refused' : 'failed';
  }

  /** Without headers, bodies and query, which can contain secrets. */
  #log(incoming: IncomingMessage, response: ServerResponse, host: string, bytes: number, ms: number): void {
    const { method, url = '' } = incoming;
    const [path] = url.split('?', 1);
    const status = response.statusCode;
    this.#options.log.debug(
      { method, host, path, status, bytes, ms },
      'request of a sandbox with a credential',
    );
  }

  #close(socket: Duplex, status: 400 | 501): void {
    this.#connections.get(socket)?.current?.abort(new ProxyRefusal(400, 'The request is malformed.'));
    const text = status === 501 ? 'Not Implemented' : 'Bad Request';
    if (socket.writable) socket.end(`HTTP/1.1 ${status} ${text}\r\nConnection: close\r\n\r\n`);
    else socket.destroy();
  }
}

/** Sends an answer of the proxy, or cuts the answer of the host that the client has received in part. */
function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.socket?.destroy();
  if (response.headersSent || response.destroyed) return;
  const headers = { 'Content-Type': 'text/plain', Connection: 'close' };
  response.writeHead(status, headers).end(`${message}\n`);
}
