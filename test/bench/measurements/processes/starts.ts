import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../../support/port.ts';
import { memoryOf } from '../../../support/process-memory.ts';
import { TARGETS, type TargetName } from '../../../support/targets.ts';
import { until } from '../../../support/wait.ts';
import type { Bench } from '../../bench.ts';
import { startSeparateProcesses } from '../../subjects/subjects.ts';

/** The costs of a process at the moment when it is ready. */
export interface Start {
  /** CPU time in milliseconds, including the kernel and all threads. */
  cpuMs: number;
  /** Resident memory in bytes. */
  rss: number;
}

interface ReadyProcess extends AsyncDisposable {
  start: Start;
  /** CPU time in milliseconds and resident memory in bytes until now. */
  usage(): Start;
}

export interface Starts {
  /** A process that loads the packages of the edge and nothing else. */
  bare: Start;
  targets: (Start & { target: TargetName })[];
}

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const MAIN = pathOf('../../../../services/main.js');
const FILL = pathOf('../../../../deploy/compile-cache.js');
const BARE = pathOf('../../subjects/bare-start.js');
const READY_MS = 60_000;
/** Milliseconds per clock tick of /proc, 10 on every Linux that runs Node. */
const TICK_MS = 10;

/**
 * v: starts each target alone, as one more instance in a system that is ready. In a system that starts, the other processes
 * would compete for the cores, and requests to the edge until it is ready would be part of its CPU time.
 */
export async function measureStarts(bench: Bench): Promise<Starts> {
  await using database = await bench.postgres.createDatabase();
  await using system = await startSeparateProcesses(database.url, { isComplete: true });
  // The first start after a change of the code would compile it.
  await promisify(execFile)(process.execPath, [FILL]);
  const bare = await costOf(startBare());
  const targets: Starts['targets'] = [];
  for (const target of TARGETS)
    targets.push({ target, ...(await costOf(startReady(target, system.settings[target]))) });
  return { bare, targets };
}

async function costOf(starting: Promise<ReadyProcess>): Promise<Start> {
  await using process = await starting;
  return process.start;
}

/**
 * Starts an instance of a target, and waits until it is ready.
 *
 * @param settings the environment of the instance. Its addresses are replaced.
 */
export async function startReady(
  target: TargetName | 'all',
  settings: NodeJS.ProcessEnv,
): Promise<ReadyProcess> {
  const listen = `127.0.0.1:${await freePort()}`;
  const env = {
    ...settings,
    SERVICE_PORT: String(await freePort()),
    SERVICE_GRPC_LISTEN: `127.0.0.1:${await freePort()}`,
    SERVICE_METRICS_LISTEN: listen,
  };
  return startProgram([MAIN, `--target=${target}`], env, listen);
}

async function startBare(): Promise<ReadyProcess> {
  const port = await freePort();
  return startProgram([BARE, `${port}`], {}, `127.0.0.1:${port}`);
}

/** Starts a program, and waits until `/readyz` at this address reports that it is ready. */
async function startProgram(args: string[], env: NodeJS.ProcessEnv, listen: string): Promise<ReadyProcess> {
  await using started = new AsyncDisposableStack();
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  started.defer(async () => {
    child.kill();
    await exited;
  });
  const usage = () => usageOf(child.pid ?? 0);
  await until(`${args.join(' ')} is ready`, () => isReady(listen), READY_MS);
  const start = usage();
  const stack = started.move();
  return { start, usage, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** A degraded process is not ready: it has not reached a service that it can do without. */
async function isReady(listen: string): Promise<boolean> {
  const answer = await fetch(`http://${listen}/readyz`).catch(() => undefined);
  if (!answer?.ok) return false;
  const { status } = (await answer.json()) as { status: string };
  return status === 'ready';
}

function usageOf(pid: number): Start {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  return { cpuMs, rss: memoryOf(pid).now };
}
