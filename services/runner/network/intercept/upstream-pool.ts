import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { HostAddress } from '../../../../lib/host-patterns.ts';
import { http } from '../../../../lib/http.ts';
import type { OutgoingRequest } from './placeholders.ts';
import { ProxyRefusal } from './proxy-refusal.ts';

interface Upstream extends HostAddress {
  /** Opens a connection to the checked address of the host. */
  connect(): Promise<Socket>;
}

interface SentRequest {
  answer: Promise<IncomingMessage>;
  /** Takes the body. */
  body: import('node:stream').Writable;
}

/** Unused connections are closed after this time, or earlier if the host announces that. */
const IDLE_MS = 15_000;
const MAX_IDLE = 16;

/** Connections of one sandbox to hosts, over TLS with verified certificates. */
export class UpstreamPool {
  readonly #agent: ConnectingAgent;

  /** `context` has the trusted roots. */
  constructor(context: () => SecureContext) {
    this.#agent = new ConnectingAgent(context);
  }

  /** Begins a request. `answer` rejects with a ProxyRefusal. */
  send({ method, target: path, headers }: OutgoingRequest, upstream: Upstream): SentRequest {
    const { host, port } = upstream;
    const options = { agent: this.#agent, host, port, method, path, upstream };
    const outgoing = http.request({ ...options, headers: headers.flat(), setHost: false });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    outgoing.once('response', resolve);
    outgoing.once('upgrade', (_, socket) => {
      socket.destroy();
      reject(new ProxyRefusal(502, 'The host has changed the protocol.'));
    });
    outgoing.on('error', (error) => reject(new UpstreamError(error, outgoing.reusedSocket)));
    promise.catch(() => {});
    return { answer: promise, body: outgoing };
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** The host could not be reached, or its connection has failed. */
export class UpstreamError extends ProxyRefusal {
  /** Whether the host can have closed a kept connection before it has read the request. */
  readonly wasKept: boolean;

  constructor(cause: unknown, wasKept: boolean) {
    const { status, message } =
      cause instanceof Error && 'status' in cause ? cause : { status: 502, message: undefined };
    super(status === 403 ? 403 : 502, message ?? messageOf(cause));
    this.wasKept = wasKept;
  }
}

class ConnectingAgent extends http.Agent {
  readonly #context: () => SecureContext;

  constructor(context: () => SecureContext) {
    super({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE });
    this.#context = context;
  }

  override createConnection(
    options: object,
    done?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { upstream } = options as { upstream: Upstream };
    this.#open(upstream).then(
      (socket) => done?.(null, socket),
      // Node ignores the socket of a failure, which its type requires.
      (error: Error) => done?.(error, undefined as unknown as Duplex),
    );
  }

  async #open({ host, connect }: Upstream): Promise<Duplex> {
    const socket = await connect();
    const encrypted = connectTls({
      socket,
      servername: host,
      ALPNProtocols: ['http/1.1'],
      secureContext: this.#context(),
      rejectUnauthorized: true,
    });
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
    encrypted.once('secureConnect', () => resolve(encrypted));
    encrypted.on('error', (error) => {
      socket.destroy();
      reject(error);
    });
    encrypted.once('close', () => reject(new Error('closed')));
    return await promise;
  }
}

/** Codes of Node for failures of a connection; other failures during the handshake concern the certificate. */
const CONNECTION_FAILURES = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED', 'HPE_'];

function messageOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return code === '' || CONNECTION_FAILURES.some((one) => code.startsWith(one))
    ? 'The connection to the host has failed.'
    : 'The TLS certificate or handshake of the host is invalid.';
}
