import { type Bench, pause, percentile } from '../../bench.ts';
import { createWebhook } from '../../fixtures/webhook.ts';
import type { Subject } from '../../subjects/subject.ts';
import { hasRedis, startSeparateProcesses, startSingleProcess } from '../../subjects/subjects.ts';
import type { OverloadFigures, OverloadJob } from '../../workers/overload-worker.ts';
import { send } from '../../workers/senders.ts';
import { startWorker } from '../../workers/worker.ts';
import { compareWithStored, jobFor } from './acceptance.ts';

export interface Goodput {
  /** Accepted requests per second at three times the capacity, by the capacity. */
  ratio: number;
  /** The same per CPU time of the service and the database, which does not depend on other programs of the machine. */
  cpuRatio: number;
  /** From the end of the overload to the last refusal, in seconds. */
  recoverySeconds: number;
  /** Of the accepted requests at three times the capacity. */
  p50Ms: number;
  p99Ms: number;
  /** Median of GET requests at three times the capacity. */
  readP50Ms: number;
}

export interface Overload {
  single: Goodput;
  /** A process per target; undefined without Redis. */
  apart: Goodput | undefined;
}

const FACTOR = 3;
/** Afterwards, the load is this part of the capacity. */
const AFTER = 0.5;
const RECOVERY_MS = 10_000;
const WARM_UP_MS = 3_000;
const MAX_CONNECTIONS = 2_000;
const TIMEOUT_MS = 60_000;
const READ_PAUSE_MS = 50;

/** u: webhooks at three times the rate that 32 connections reach, beside that rate. */
export async function measureOverload(bench: Bench): Promise<Overload> {
  const single = await measure(bench, 'one process', (url) => startSingleProcess(url, 0));
  if (!hasRedis()) return { single, apart: undefined };
  return { single, apart: await measure(bench, 'a process per target', startSeparateProcesses) };
}

async function measure(
  bench: Bench,
  shape: string,
  start: (databaseUrl: string) => Promise<Subject>,
): Promise<Goodput> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await start(database.url);
  const { request } = await createWebhook(subject.origin);
  let cpu = async () => Number.NaN;
  const capacity = await send(jobFor(subject, request, bench.durationMs), subject, async () => {
    cpu = await cpuOf(bench, subject);
  });
  const capacityMs = await cpu();
  const offered = FACTOR * capacity.perSecond;
  const job: OverloadJob = {
    port: Number(new URL(subject.origin).port),
    request,
    phases: [
      { perSecond: offered, durationMs: WARM_UP_MS },
      { perSecond: offered, durationMs: bench.durationMs },
      { perSecond: AFTER * capacity.perSecond, durationMs: RECOVERY_MS },
    ],
    maxConnections: MAX_CONNECTIONS,
  };
  const timeoutMs = WARM_UP_MS + bench.durationMs + RECOVERY_MS + TIMEOUT_MS;
  await using sender = startWorker<OverloadFigures>('overload-worker.ts', job, {
    timeoutMs,
    failed: subject.failed,
  });
  await sender.ready;
  const overloadCpu = await cpuOf(bench, subject);
  const readP50Ms = await read(`${subject.origin}/api/v1/agents`, bench.durationMs);
  const overloadMs = await overloadCpu();
  const figures = await sender.figures;
  const [, during, after] = figures.phases;
  if (!during || !after) throw new Error('a phase was not measured');
  const goodput = {
    ratio: during.perSecond / capacity.perSecond,
    cpuRatio: during.accepted / overloadMs / (capacity.answers / capacityMs),
    recoverySeconds: after.lastRefusalMs / 1_000,
    p50Ms: during.p50Ms,
    p99Ms: during.p99Ms,
    readP50Ms,
  };
  bench.print(
    'x',
    `${shape}: ${capacity.perSecond.toFixed(0)}/s at 32 connections; of ${offered.toFixed(0)}/s ` +
      `${during.perSecond.toFixed(0)}/s accepted, ${during.refused} refused, ${during.unsent} unsent, ` +
      `${figures.connections} connections, p50 ${during.p50Ms.toFixed(0)} ms, p99 ${during.p99Ms.toFixed(0)} ms; ` +
      `${(capacityMs / capacity.answers).toFixed(2)} ms of CPU per accepted request, ` +
      `${(overloadMs / during.accepted).toFixed(2)} ms with the refusals`,
  );
  await compareWithStored(database, 'sessions.sessions', capacity.accepted + figures.accepted);
  return goodput;
}

/** Returns a function that returns the CPU time of the service and the database since now, in milliseconds. */
async function cpuOf({ postgres }: Bench, subject: Subject): Promise<() => Promise<number>> {
  const total = async () =>
    (await subject.usage()).reduce((sum, { usage }) => sum + usage.cpuMs, postgres.cpuMs());
  const before = await total();
  return async () => (await total()) - before;
}

/** Reads again and again for this long. Returns the median duration in milliseconds. Fails on an error. */
async function read(url: string, durationMs: number): Promise<number> {
  const durations: number[] = [];
  for (const until = performance.now() + durationMs; performance.now() < until; await pause(READ_PAUSE_MS)) {
    const startedAt = performance.now();
    const response = await fetch(url);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`a read was answered with ${response.status}`);
    durations.push(performance.now() - startedAt);
  }
  return percentile(durations, 0.5);
}
