import { findTool } from '../../../lib/db/embedded/launcher.ts';
import { startPostgres } from '../../../lib/db/embedded.ts';

/**
 * A process of its own that holds a server, so that tests can kill it. Arguments: the directory, and the
 * programs of the host it is to do without. Says when the cluster begins to be made and when the server is
 * ready; SIGINT does nothing to it, SIGTERM stops the server and ends it.
 */
const [directory = '', ...without] = process.argv.slice(2);
process.on('SIGINT', () => {});
const postgres = await startPostgres({
  directory,
  // The page cache survives the end of processes, and no power cut is played here.
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
