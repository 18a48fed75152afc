import type { Bench, Spread } from '../../bench.ts';
import { createWebhook, requestFor } from '../../fixtures/webhook.ts';
import { createMeter } from '../../subjects/meter.ts';
import type { BenchDatabase } from '../../subjects/postgres.ts';
import type { Subject } from '../../subjects/subject.ts';
import {
  startBare,
  startBareApart,
  startSeparateProcesses,
  startSingleProcess,
} from '../../subjects/subjects.ts';
import type { LoadFigures, LoadJob } from '../../workers/load-worker.ts';
import { send } from '../../workers/senders.ts';

export interface Acceptance extends Spread {
  perSecond: number;
  /** Median latency at one connection. */
  singleConnectionP50Ms: number;
}

const CONNECTIONS = 32;
/** V8 optimizes code while it runs. In its first seconds under load, a target takes up to half as much CPU time again. */
const WARM_UP_MS = 10_000;
const SECRET = 'the secret of the bare server';

/** b: the same signature and rows, without a service. */
export const measureBare = (bench: Bench) => measureLimit(bench, 'b', startBare);

/** b": the same in three processes, which two messages over gRPC connect. */
export const measureBareApart = (bench: Bench) => measureLimit(bench, 'b"', startBareApart);

async function measureLimit(bench: Bench, letter: string, start: typeof startBare): Promise<Acceptance> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await start(database.url, SECRET);
  const request = requestFor(`${subject.origin}/`, SECRET);
  return await measure(bench, letter, database, subject, request, 'bare.sessions');
}

/** a: one process without a runner. */
export async function measureAccepted(bench: Bench): Promise<Acceptance> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url, 0);
  const { request } = await createWebhook(subject.origin);
  return await measure(bench, 'a', database, subject, request, 'sessions.sessions');
}

/** a": the same with one process per target. */
export async function measureSeparateProcesses(bench: Bench): Promise<Acceptance> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSeparateProcesses(database.url);
  const { request } = await createWebhook(subject.origin);
  return await measure(bench, 'a"', database, subject, request, 'sessions.sessions');
}

async function measure(
  bench: Bench,
  letter: string,
  database: BenchDatabase,
  subject: Subject,
  request: string,
  table: string,
): Promise<Acceptance> {
  const meter = createMeter(bench, subject);
  const job = jobFor(subject, request, bench.durationMs);
  const figures = await send(job, subject, meter.begin);
  const costs = await meter.end(figures.answers, 'request');
  bench.print(letter, `${describeLoad(figures)}\n${costs}`);
  const single = await send({ ...job, connections: 1, warmUpMs: job.warmUpMs / 4 }, subject);
  bench.print(letter, `at one connection: ${describeLoad(single)}`);
  await compareWithStored(database, table, figures.accepted + single.accepted);
  return { ...figures, singleConnectionP50Ms: single.p50Ms };
}

export const jobFor = ({ origin }: Subject, request: string, durationMs: number): LoadJob => ({
  port: Number(new URL(origin).port),
  connections: CONNECTIONS,
  warmUpMs: Math.min(WARM_UP_MS, 2 * durationMs),
  durationMs,
  request,
  status: 200,
});

export function describeLoad({ perSecond, p50Ms, p99Ms, cpuMs, answers }: LoadFigures): string {
  const own = ((cpuMs / answers) * 1_000).toFixed(0);
  return `${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms (the sender costs ${own} µs each)`;
}

/** Fails unless the database contains every acknowledged request. */
export async function compareWithStored(
  database: BenchDatabase,
  table: string,
  accepted: number,
): Promise<void> {
  const [stored] = await database.queryRow(`select count(*) from ${table}`);
  if (stored !== accepted) throw new Error(`${accepted} were accepted, but ${table} has ${stored} rows`);
}
