import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Ports to choose from. A process tries only every `shares`-th one, so that simultaneous choices of others differ. */
export interface PortRange {
  first: number;
  /** The first port after the range. */
  limit: number;
  shares: number;
  /** Less than `shares`. */
  share: number;
}

const MAX_TRIES = 50;

/** Returns a port of 127.0.0.1 without a listener. Another process can take it first; the caller then asks again. */
export const freePort = portChooser({
  first: 15_000,
  // Systems assign ports from 32768 on to outgoing connections, so such a port can be taken at any time.
  limit: 32_768,
  shares: 32,
  share: process.pid % 32,
});

/** Returns a function that chooses ports of 127.0.0.1 without a listener, and never the same one again soon. */
export function portChooser({ first, limit, shares, share }: PortRange): () => Promise<number> {
  const ports = Math.floor((limit - first) / shares);
  /** Ports that were returned before. They can still be unused and must not be returned twice. */
  const returned = new Set<number>();
  return async () => {
    if (returned.size > ports / 2) returned.clear();
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const port = first + shares * randomInt(ports) + share;
      if (returned.has(port)) continue;
      returned.add(port);
      if (await isFree(port)) return port;
    }
    throw new Error(`no free port found on 127.0.0.1 between ${first} and ${limit - 1}`);
  };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
