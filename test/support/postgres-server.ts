import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '../../lib/db/embedded.ts';
import { freePort } from './port.ts';
import { scratch } from './scratch.ts';

/** A PostgreSQL server of one test, which can be ended and restarted. */
export interface TestPostgres extends AsyncDisposable {
  url: string;
  /** Kills the server with SIGKILL, or stops it cleanly for any other signal. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Restarts the server with the same data and port. */
  run(): Promise<void>;
}

export async function startTestPostgres(): Promise<TestPostgres> {
  const directory = await mkdtemp(join(scratch(), 'ahs-test-server-'));
  const port = await freePort();
  const start = () => startPostgres({ directory, port, log: () => {} });
  let server = await start();
  return {
    url: server.url,
    async end(signal) {
      if (signal === 'SIGKILL') process.kill(server.pid, signal);
      else await server.stop();
      await server.exited;
    },
    async run() {
      server = await start();
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
