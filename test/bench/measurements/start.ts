/**
 * Measures what each target costs without load: `node test/bench/measurements/start.ts [rounds] [targets]`, with targets
 * separated by commas. Prints the medians of the CPU time until the target accepts calls, the CPU time of the five idle
 * seconds behind that, and the resident memory after them. NODE_OPTIONS and NODE_DISABLE_COMPILE_CACHE are passed on.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/port.ts';
import { startRedis } from '../../support/redis.ts';
import { planTargets, TARGETS } from '../../support/targets.ts';
import { until } from '../../support/wait.ts';
import { pause, percentile } from '../bench.ts';
import { openPostgres } from '../subjects/postgres.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const ALL_TARGETS = [...TARGETS, 'all'] as const;
const requested = process.argv[3]?.split(',');
const MAIN = fileURLToPath(new URL('../../../services/main.js', import.meta.url));
const IDLE_MS = 5_000;
const START_MS = 60_000;
/** Milliseconds per clock tick of /proc, 10 on every Linux that runs Node. */
const TICK_MS = 10;

interface Cost {
  startMs: number;
  idleMs: number;
  mib: number;
}

await using stack = new AsyncDisposableStack();
const postgres = stack.use(await openPostgres());
const redis = stack.use(await startRedis());
const database = stack.use(await postgres.createDatabase());
const databaseOfAll = stack.use(await postgres.createDatabase());
const dataDir = await mkdtemp(join(tmpdir(), 'ahs-bench-start-'));
stack.defer(() => rm(dataDir, { recursive: true, force: true }));
// The files target needs an object store in its settings. It starts without one.
const plan = await planTargets({
  SERVICE_DATABASE_URL: database.url,
  SERVICE_REDIS_URL: redis.url,
  SERVICE_S3_ENDPOINT: 'http://127.0.0.1:9',
  SERVICE_S3_ACCESS_KEY: 'key',
  SERVICE_S3_SECRET_KEY: 'secret',
});
const { PATH, NODE_OPTIONS, NODE_DISABLE_COMPILE_CACHE } = process.env;
const passedOn = { PATH, NODE_OPTIONS, NODE_DISABLE_COMPILE_CACHE };
const costs = new Map<string, Cost[]>();
for (let round = 0; round < ROUNDS; round++) {
  for (const target of ALL_TARGETS.filter((name) => requested?.includes(name) ?? true)) {
    const env =
      target === 'all'
        ? {
            SERVICE_DATA_DIR: dataDir,
            SERVICE_DATABASE_URL: databaseOfAll.url,
            SERVICE_PORT: `${await freePort()}`,
          }
        : plan.settings[target];
    costs.set(target, [...(costs.get(target) ?? []), await measure(target, env)]);
  }
}
for (const [target, measured] of costs) {
  const median = (of: (cost: Cost) => number) => percentile(measured.map(of), 0.5).toFixed(0);
  const [start, idle] = [median(({ startMs }) => startMs), median(({ idleMs }) => idleMs)];
  console.log(
    `${target.padEnd(12)} CPU of the start ${start} ms, idle ${idle} ms; ${median(({ mib }) => mib)} MiB`,
  );
}

/** Starts one target alone. */
async function measure(target: string, env: Record<string, string>): Promise<Cost> {
  const listen = `127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [MAIN, `--target=${target}`], {
    env: { ...passedOn, ...env, SERVICE_METRICS_LISTEN: listen },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const pid = child.pid ?? 0;
  await until(`${target} has started`, () => isAlive(listen), START_MS);
  const startMs = cpuMs(pid);
  await pause(IDLE_MS);
  const cost = { startMs, idleMs: cpuMs(pid) - startMs, mib: residentMib(pid) };
  child.kill();
  await exited;
  return cost;
}

async function isAlive(listen: string): Promise<boolean> {
  const answer = await fetch(`http://${listen}/livez`).catch(() => undefined);
  return answer?.ok === true;
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function residentMib(pid: number): number {
  const [, kib = 'NaN'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1_024;
}
