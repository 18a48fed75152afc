import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Systems hand out ports from 32768 on to outgoing connections; one of those may be taken at any moment. */
const LOWEST = 15_000;
const LIMIT = 32_768;
const TRIES = 50;
/** Processes that ask at the same moment look in different places: one in so many ports is theirs. */
const SHARES = 32;
const PORTS = Math.floor((LIMIT - LOWEST) / SHARES);

/** What nobody listens on yet is not given twice. */
const given = new Set<number>();

/** A port of 127.0.0.1 that nobody listens on now. Another process may still be faster: then ask again. */
export async function freePort(): Promise<number> {
  if (given.size > PORTS / 2) given.clear();
  for (let tries = 0; tries < TRIES; tries++) {
    const port = LOWEST + SHARES * randomInt(PORTS) + (process.pid % SHARES);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found on 127.0.0.1 between ${LOWEST} and ${LIMIT - 1}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
