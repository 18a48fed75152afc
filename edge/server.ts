import type { FastifyInstance } from 'fastify';
import { refuse } from '../lib/errors.ts';
import type { Module } from '../lib/modules.ts';
import { createApp } from './app.ts';
import type { EdgeConfig } from './config.ts';
import type { EdgeContext } from './context.ts';

export interface Edge extends Module {
  /** The origin under which clients reach it. */
  url: string;
}

/** What is being answered may be finished for this long. */
const STOP_MS = 1_000;
/** Nobody can be reached under these; a port published on loopback can be reached there. */
const EVERY_ADDRESS = new Set(['0.0.0.0', '::']);

/** Opens the HTTP side of the service. */
export async function openEdge(context: EdgeContext, config: EdgeConfig): Promise<Edge> {
  const { app, begin, drain } = await createApp(context, config);
  const listening = new URL(await listen(app, config));
  return {
    name: 'edge',
    url: begin(listening),
    drain,
    async stop() {
      // A connection on which nothing was asked yet is not idle to Node, and would be waited for.
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
    throw refuse('DEPENDENCY_UNAVAILABLE', `cannot listen on ${host}:${port}`, { cause: error });
  }
  const address = app.server.address();
  const actual = typeof address === 'object' && address ? address.port : port;
  const name = EVERY_ADDRESS.has(host) ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${actual}`;
}
