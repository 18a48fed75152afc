import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../lib/db/embedded/port.ts';
import { startPostgres } from '../../lib/db/embedded.ts';
import { scratch } from './scratch.ts';

/** A PostgreSQL that nobody else uses, so that it can be ended and started again. */
export interface TestServer extends AsyncDisposable {
  url: string;
  /** Ends it with SIGKILL, or gently with anything else. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again, over the same data and on the same port. */
  run(): Promise<void>;
}

export async function startServer(): Promise<TestServer> {
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
