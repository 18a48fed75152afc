import { findTool } from '../../../lib/db/embedded/launcher.ts';
import { startPostgres } from '../../../lib/db/embedded.ts';

/**
 * A separate process that runs a server, so that tests can kill it. Arguments: the directory, and the host programs to
 * hide. Prints when the creation of the cluster starts and when the server is ready. It ignores SIGINT. SIGTERM stops the
 * server and ends the process.
 */
const [directory = '', ...without] = process.argv.slice(2);
process.on('SIGINT', () => {});
const postgres = await startPostgres({
  directory,
  // The page cache survives the end of processes, and the tests simulate no power failure.
  settings: { fsync: 'off' },
  log: (line) => say({ line }),
  tool: (name) => (without.includes(name) ? undefined : findTool(name)),
});
process.on('SIGTERM', () => void postgres.stop());
say({ url: postgres.url, pid: postgres.pid });
say({ exit: await postgres.exited });

function say(word: object): void {
  console.log(JSON.stringify(word));
}
