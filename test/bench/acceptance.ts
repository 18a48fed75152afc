import type { Bench, Spread } from './bench.ts';
import type { LoadFigures, LoadJob } from './load.ts';
import { createMeter } from './meter.ts';
import type { BenchDatabase } from './postgres.ts';
import { send } from './senders.ts';
import type { Subject } from './subject.ts';
import { startApart, startBare, startWhole } from './subjects.ts';
import { createWebhook, requestFor } from './webhook.ts';

export interface Acceptance extends Spread {
  perSecond: number;
  /** With one connection only. */
  aloneP50Ms: number;
}

const CONNECTIONS = 32;
const WARM_UP_MS = 2_000;
const SECRET = 'the secret of the bare server';

/** b: the same signature and the same rows, without a service. */
export async function measureBare(bench: Bench): Promise<Acceptance> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startBare(database.url, SECRET);
  return await measure(
    bench,
    'b',
    database,
    subject,
    requestFor(`${subject.origin}/`, SECRET),
    'bare.sessions',
  );
}

/** a: in one process, where no runner takes the turns. */
export async function measureAccepted(bench: Bench): Promise<Acceptance> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startWhole(database.url, 0);
  const { request } = await createWebhook(subject.origin);
  return await measure(bench, 'a', database, subject, request, 'sessions.sessions');
}

/** a": the same, every target in a process of its own. */
export async function measureApart(bench: Bench): Promise<Acceptance> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startApart(database.url);
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
  bench.say(letter, `${describeLoad(figures)}\n${costs}`);
  const alone = await send({ ...job, connections: 1, warmUpMs: job.warmUpMs / 4 }, subject);
  bench.say(letter, `at one connection: ${describeLoad(alone)}`);
  await compareWithStored(database, table, figures.accepted + alone.accepted);
  return { ...figures, aloneP50Ms: alone.p50Ms };
}

export const jobFor = ({ origin }: Subject, request: string, durationMs: number): LoadJob => ({
  port: Number(new URL(origin).port),
  connections: CONNECTIONS,
  warmUpMs: Math.min(WARM_UP_MS, durationMs),
  durationMs,
  request,
  status: 200,
});

export function describeLoad({ perSecond, p50Ms, p99Ms, cpuMs, answers }: LoadFigures): string {
  const own = ((cpuMs / answers) * 1_000).toFixed(0);
  return `${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms (sending one costs ${own} µs)`;
}

/** A figure counts only when everything that was acknowledged is there. */
export async function compareWithStored(
  database: BenchDatabase,
  table: string,
  accepted: number,
): Promise<void> {
  const [stored] = await database.ask(`select count(*) from ${table}`);
  if (stored !== accepted) throw new Error(`${accepted} were accepted, but ${table} has ${stored} rows`);
}
