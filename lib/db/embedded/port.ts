import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Systems hand out ports from 32768 on to outgoing connections; one of those may be taken at any moment. */
const LOWEST = 15_000;
const LIMIT = 32_768;
const TRIES = 50;

/** A port of 127.0.0.1 that nobody listens on now. Another process may still be faster: then ask again. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(LOWEST, LIMIT);
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
