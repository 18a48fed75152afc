/**
 * Measures the start of targets: `node test/bench/measurements/start.ts [rounds] [targets]`, with targets separated by commas.
 * Each of them starts alone, as one more instance in a system that is ready; target `all` has its own database. Prints the medians of the CPU time until the target
 * is ready, the CPU time of the five idle seconds behind that, and the resident memory after them. NODE_OPTIONS and
 * NODE_DISABLE_COMPILE_CACHE are passed on.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TARGETS } from '../../support/targets.ts';
import { pause, percentile } from '../bench.ts';
import { openPostgres } from '../subjects/postgres.ts';
import { startSeparateProcesses } from '../subjects/subjects.ts';
import { startReady } from './processes/starts.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const REQUESTED = process.argv[3]?.split(',');
const IDLE_MS = 5_000;
const MIB = 1024 * 1024;

interface Cost {
  startMs: number;
  idleMs: number;
  mib: number;
}

await using stack = new AsyncDisposableStack();
const postgres = stack.use(await openPostgres());
const database = stack.use(await postgres.createDatabase());
const databaseOfAll = stack.use(await postgres.createDatabase());
const dataDir = await mkdtemp(join(tmpdir(), 'ahs-bench-start-'));
stack.defer(() => rm(dataDir, { recursive: true, force: true }));
const all = { SERVICE_DATABASE_URL: databaseOfAll.url, SERVICE_DATA_DIR: dataDir };
const system = stack.use(await startSeparateProcesses(database.url, { isComplete: true }));
const { PATH, NODE_OPTIONS, NODE_DISABLE_COMPILE_CACHE } = process.env;
const passedOn = { PATH, NODE_OPTIONS, NODE_DISABLE_COMPILE_CACHE };
const costs = new Map<string, Cost[]>();
for (let round = 0; round < ROUNDS; round++) {
  for (const target of [...TARGETS, 'all' as const].filter((name) => REQUESTED?.includes(name) ?? true)) {
    const settings = target === 'all' ? all : system.settings[target];
    await using instance = await startReady(target, { ...passedOn, ...settings });
    await pause(IDLE_MS);
    const { cpuMs: startMs } = instance.start;
    const { cpuMs, rss } = instance.usage();
    const cost = { startMs, idleMs: cpuMs - startMs, mib: rss / MIB };
    costs.set(target, [...(costs.get(target) ?? []), cost]);
  }
}
for (const [target, measured] of costs) {
  const median = (of: (cost: Cost) => number) => percentile(measured.map(of), 0.5).toFixed(0);
  const [start, idle] = [median(({ startMs }) => startMs), median(({ idleMs }) => idleMs)];
  console.log(
    `${target.padEnd(12)} CPU of the start ${start} ms, idle ${idle} ms; ${median(({ mib }) => mib)} MiB`,
  );
}
