import { join } from 'node:path';
import type { EmbeddedPostgres } from '../../lib/db/embedded.ts';
import type { Log } from '../../lib/log.ts';
import type { Module } from '../../lib/modules.ts';

interface DatabaseServer extends Module {
  url: string;
}

const RESTART_MS = 500;

/** Starts the embedded PostgreSQL server. When it exits unexpectedly, it is restarted on the same port. */
export async function embeddedDatabase(dataDir: string, log: Log): Promise<DatabaseServer> {
  const { startPostgres } = await import('../../lib/db/embedded.ts');
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
        log.error({ code, signal }, 'the embedded database exited unexpectedly and is restarted');
        restarting = restart();
      })
      .catch((error: unknown) => log.error({ err: error }, 'the restart of the embedded database failed'));
  }

  async function restart(): Promise<void> {
    let loggedReason: string | undefined;
    while (!stopping) {
      try {
        server = await start(port);
        log.info('the embedded database accepts connections again');
        watch(server);
        return;
      } catch (error) {
        // Repeating the same reason twice a second would flood the log.
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== loggedReason)
          log.error({ err: error }, 'the embedded database failed to start; it is tried again');
        loggedReason = reason;
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
