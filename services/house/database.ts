import { join } from 'node:path';
import { type EmbeddedPostgres, startPostgres } from '../../lib/db/embedded.ts';
import type { Log } from '../../lib/log.ts';
import type { Module } from '../../lib/modules.ts';

export interface DatabaseServer extends Module {
  url: string;
}

const RESTART_MS = 500;

/** The embedded PostgreSQL. When it dies on its own it is started again on the same port. */
export async function embeddedDatabase(dataDir: string, log: Log): Promise<DatabaseServer> {
  const directory = join(dataDir, 'postgres');
  const start = (port: number) => startPostgres({ directory, port, log: (line) => log.debug(line) });
  let server = await start(0);
  const { url } = server;
  const port = Number(new URL(url).port);
  let stopping = false;
  let restarting: Promise<void> = Promise.resolve();

  function watch(one: EmbeddedPostgres): void {
    one.exited
      .then(({ code, signal }) => {
        if (stopping) return;
        log.error({ code, signal }, 'the embedded database has died and is started again');
        restarting = restart();
      })
      .catch((error: unknown) => log.error({ err: error }, 'the embedded database cannot be watched'));
  }

  async function restart(): Promise<void> {
    let told: string | undefined;
    while (!stopping) {
      try {
        server = await start(port);
        log.info('the embedded database serves again');
        watch(server);
        return;
      } catch (error) {
        // Twice a second the same would hide what else is in the log.
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== told) log.error({ err: error }, 'the embedded database does not start yet');
        told = reason;
        await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
      }
    }
  }

  watch(server);
  return {
    name: 'postgres',
    url,
    async stop() {
      stopping = true;
      await restarting;
      await server.stop();
    },
  };
}
