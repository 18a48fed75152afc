/**
 * The hot paths beside the bare limit, in one run on one machine. Ratios count; absolute figures move with
 * the machine.
 *
 *   npm run bench -- --seconds 5
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../lib/db/embedded.ts';
import { benchTrigger, watchPostgres } from './trigger.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } });
const directory = await mkdtemp(join(tmpdir(), 'ahs-bench-'));
const server = await startPostgres({ directory, log: () => {} });
watchPostgres(server.pid);
try {
  await benchTrigger(server.url, Number(values.seconds) * 1_000);
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}
