import type { FastifyInstance } from 'fastify';
import { refuse } from '../lib/errors.ts';
import type { Module } from '../lib/modules.ts';
import { createApp } from './app.ts';
import type { EdgeConfig } from './config.ts';
import type { EdgeContext } from './context.ts';

interface Edge extends Module {
  /** The origin under which clients reach the service. */
  url: string;
}

/** Open requests can finish for this long after `stop`. */
const STOP_MS = 1_000;
/** Wildcard addresses. They cannot be connected to, so the loopback address is shown instead. */
const WILDCARD_ADDRESSES = new Set(['0.0.0.0', '::']);

/** Starts the HTTP server of the service. Refuses with DEPENDENCY_UNAVAILABLE if it cannot listen. */
export async function openEdge(context: EdgeContext, config: EdgeConfig): Promise<Edge> {
  const { app, setListeningUrl: begin, drain } = await createApp(context, config);
  const listening = new URL(await listen(app, config));
  return {
    name: 'edge',
    url: begin(listening),
    drain,
    async stop() {
      // Node does not treat a connection without a request as idle, and `close` would wait for it.
      const cancel = context.clock.after(STOP_MS, () => app.server.closeAllConnections());
      await app.close();
      cancel();
    },
  };
}

async function listen(app: FastifyInstance, { host, port }: EdgeConfig): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw refuse('DEPENDENCY_UNAVAILABLE', `Cannot listen on ${host}:${port}.`, { cause: error });
  }
  const address = app.server.address();
  const actual = typeof address === 'object' && address ? address.port : port;
  const name = WILDCARD_ADDRESSES.has(host) ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${actual}`;
}
