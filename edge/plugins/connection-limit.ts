import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../lib/errors.ts';

/** The share of the open files of the process that client connections may use. */
const SHARE = 0.8;
/** Up to this share, connections are accepted and their requests refused. Further ones are closed at once. */
const REFUSED_SHARE = 0.9;
const RETRY_AFTER_SECONDS = 5;
/** Orchestrators would restart a process whose probes are refused. */
const UNLIMITED = new Set(['/livez', '/readyz', '/healthz', '/metrics']);

/** Limits the client connections, so that enough open files remain for databases, files and sandboxes. */
export class ConnectionLimit {
  readonly #limit: number;
  readonly #excess = new WeakSet<Socket>();

  constructor(server: Server, openFiles: number) {
    this.#limit = Math.floor(openFiles * SHARE);
    if (!Number.isFinite(openFiles)) return;
    server.maxConnections = Math.floor(openFiles * REFUSED_SHARE);
    // The number is asked for rather than counted: a listener per connection would cost memory.
    server.on('connection', (socket) =>
      server.getConnections((_, count) => {
        if (count > this.#limit) this.#excess.add(socket);
      }),
    );
  }

  /** Refuses a request on a connection above the limit with DEPENDENCY_UNAVAILABLE. The connection closes after it. */
  check({ raw, routeOptions }: FastifyRequest, reply: FastifyReply): void {
    if (!this.#excess.has(raw.socket) || UNLIMITED.has(routeOptions.url ?? '')) return;
    reply.raw.shouldKeepAlive = false;
    throw refuse(
      'DEPENDENCY_UNAVAILABLE',
      `All ${this.#limit} client connections are in use. Try again later.`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }
}
