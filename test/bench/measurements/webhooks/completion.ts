import { type Bench, pause, type Spread } from '../../bench.ts';
import { createWebhook } from '../../fixtures/webhook.ts';
import { createMeter } from '../../subjects/meter.ts';
import type { BenchDatabase } from '../../subjects/postgres.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSeparateProcesses, startSingleProcess } from '../../subjects/subjects.ts';
import { send } from '../../workers/senders.ts';
import { compareWithStored, describeLoad, jobFor } from './acceptance.ts';

/** The spread is that of the webhook responses. */
export interface Completion extends Spread {
  /** Finished turns per second over the whole run, including the backlog after the senders stopped. */
  perSecond: number;
  /** Finished turns per second while the senders were active. */
  besidePerSecond: number;
  /** Unfinished turns when the senders stopped. */
  backlog: number;
  /** Time from the creation of a session to the end of its turn. */
  turn: Spread;
}

const SAMPLES = 10;
const DRAIN_MS = 600_000;
const POLL_MS = 50;

const FINISHED = `select count(*), count(*) filter (where status <> 'completed') from sessions.turns where finished_at is not null`;
/** Reads only unfinished turns through their index. */
const BACKLOG = `
  select (select count(*) from sessions.turns where ready) +
    (select count(*) from sessions.turns where status in ('in_progress', 'blocked'))`;
const AGES = `
  select percentile_cont(0.5) within group (order by age), percentile_cont(0.99) within group (order by age)
  from (select extract(epoch from finished_at - created_at) * 1000 as age from sessions.turns) as turn`;

/** a': one process in which every accepted turn is executed by the echo model. */
export async function measureFinished(bench: Bench): Promise<Completion> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  return await measure(bench, "a'", database, subject);
}

/** r: the same with one process per target. */
export async function measureFinishedSeparately(bench: Bench): Promise<Completion> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSeparateProcesses(database.url, { isComplete: true });
  return await measure(bench, 'r', database, subject);
}

async function measure(
  bench: Bench,
  letter: string,
  database: BenchDatabase,
  subject: Subject,
): Promise<Completion> {
  const { request } = await createWebhook(subject.origin);
  const meter = createMeter(bench, subject);
  const sent = new AbortController();
  let begun = { at: 0, finished: 0 };
  let watching = Promise.resolve();

  const figures = await send(jobFor(subject, request, bench.durationMs), subject, async () => {
    await meter.begin();
    const [finished = 0] = await database.queryRow(FINISHED);
    begun = { at: performance.now(), finished };
    watching = sampleBacklog(bench, letter, database, sent.signal);
  }).finally(() => sent.abort());
  const rateOf = (finished: number) => (finished - begun.finished) / ((performance.now() - begun.at) / 1_000);
  const [beside = 0] = await database.queryRow(FINISHED);
  const besidePerSecond = rateOf(beside);
  await watching;
  const costs = await meter.end(beside - begun.finished, 'finished turn');
  const [backlog = 0] = await database.queryRow(BACKLOG);
  await Promise.race([subject.failed, drained(database)]);
  const [all = 0, failed = 0] = await database.queryRow(FINISHED);
  const perSecond = rateOf(all);
  const [p50Ms = 0, p99Ms = 0] = await database.queryRow(AGES);

  if (failed > 0) throw new Error(`${failed} turns did not complete`);
  await compareWithStored(database, 'sessions.turns', figures.accepted);
  bench.print(letter, `accepted ${describeLoad(figures)}`);
  const pace = `${perSecond.toFixed(0)}/s until the last one, ${besidePerSecond.toFixed(0)}/s while the senders were active`;
  bench.print(letter, `finished ${pace}; when the senders stopped, ${backlog} were left`);
  bench.print(
    letter,
    `from a session's creation to its turn's end: p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`,
  );
  bench.print(letter, costs);
  return { ...figures, perSecond, besidePerSecond, backlog, turn: { p50Ms, p99Ms } };
}

/** Prints the number of unfinished turns while the senders are active. */
async function sampleBacklog(
  bench: Bench,
  letter: string,
  database: BenchDatabase,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  for (let sample = 1; sample < SAMPLES; sample++) {
    await pause((bench.durationMs / SAMPLES) * sample - elapsed(), signal);
    if (signal.aborted) return;
    const [backlog] = await database.queryRow(BACKLOG);
    bench.print(letter, `after ${(elapsed() / 1_000).toFixed(1)} s: backlog ${backlog}`);
  }
}

async function drained(database: BenchDatabase): Promise<void> {
  const startedAt = performance.now();
  while ((await database.queryRow(BACKLOG))[0] !== 0) {
    if (performance.now() - startedAt > DRAIN_MS)
      throw new Error(`turns are still waiting after ${DRAIN_MS / 1_000} s`);
    await pause(POLL_MS);
  }
}
