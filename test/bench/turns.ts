import { createApi } from '../support/api.ts';
import { type Bench, type Spread, spreadOf } from './bench.ts';
import { startErrand } from './errand.ts';
import type { LoopFigures, LoopJob } from './loop.ts';
import { createMeter } from './meter.ts';
import type { BenchDatabase } from './postgres.ts';
import type { Subject } from './subject.ts';
import { startWhole } from './subjects.ts';
import { MESSAGE, TURNS_PER_CONVERSATION } from './talk.ts';
import type { TalkFigures, TalkJob } from './talkers.ts';

export interface Turns {
  perSecond: number;
  /** Of the service and its PostgreSQL together, per turn; NaN where the system does not tell. */
  cpuUs: number;
  /** Of one turn, from its message to its end as a follower reads it. */
  turn: Spread;
  /** What the same costs in a loop around the model library, without a service: the yardstick. */
  streamText: Loop;
  /** Around what the library asks of a provider. */
  doStream: Loop;
}

interface Loop {
  perSecond: number;
  cpuUs: number;
}

const CONVERSATIONS = 200;
const WARM_UP_MS = 2_000;
const LATE_MS = 30_000;

/** d: conversations that never pause, beside the same conversations in a bare loop. */
export async function measureTurns(bench: Bench): Promise<Turns> {
  const conversations = Math.ceil(CONVERSATIONS * bench.scale);
  const timing = {
    conversations,
    warmUpMs: Math.min(WARM_UP_MS, bench.durationMs),
    durationMs: bench.durationMs,
  };
  const words = MESSAGE.split(' ').length;
  bench.say(
    'd',
    `${conversations} conversations of ${TURNS_PER_CONVERSATION} turns, ${words} words each, with rehearsal/echo`,
  );
  const { warmUpMs, durationMs } = timing;
  const loop = (by: LoopJob['by'], atOnce: number) =>
    measureLoop(bench, { by, atOnce, warmUpMs, durationMs });
  const together = await loop('streamText', conversations);
  const alone = await loop('streamText', 1);
  const doStream = await loop('doStream', conversations);
  // Many at once get in each other's way in the caches of the processor: the limit is what is better.
  const streamText = together.perSecond > alone.perSecond ? together : alone;
  return { ...(await measureService(bench, timing)), streamText, doStream };
}

async function measureLoop(bench: Bench, job: LoopJob): Promise<Loop> {
  const lateMs = job.warmUpMs + job.durationMs + LATE_MS;
  await using errand = startErrand<LoopFigures>('loop.ts', job, { lateMs });
  const { turns, elapsedMs, cpuMs } = await errand.figures;
  const perSecond = turns / (elapsedMs / 1_000);
  const cpuUs = (cpuMs / turns) * 1_000;
  const costs = `${perSecond.toFixed(0)}/s, CPU per turn: ${cpuUs.toFixed(0)} µs`;
  bench.say('d', `bare loop around ${job.by}, ${job.atOnce} at a time: ${costs}`);
  return { perSecond, cpuUs };
}

async function measureService(bench: Bench, timing: Omit<TalkJob, 'port' | 'agent'>) {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startWhole(database.url);
  const agent = await createApi(subject.origin).createAgent();
  const job: TalkJob = { ...timing, agent, port: Number(new URL(subject.origin).port) };
  const lateMs = job.warmUpMs + job.durationMs + LATE_MS;
  const meter = createMeter(bench, subject);
  await using talkers = startErrand<TalkFigures>('talkers.ts', job, { lateMs, failed: subject.failed });
  await talkers.ready;
  await meter.begin();
  const before = await cpuMsOf(bench, subject);
  const { ended, turnsMs, cpuMs } = await talkers.figures;
  const cpuUs = (((await cpuMsOf(bench, subject)) - before) / turnsMs.length) * 1_000;
  const costs = await meter.end(turnsMs.length, 'turn');
  await compareWithCompleted(database, ended);
  const perSecond = turnsMs.length / (job.durationMs / 1_000);
  const turn = spreadOf(turnsMs);
  const own = ((cpuMs / turnsMs.length) * 1_000).toFixed(0);
  const spread = `p50 ${turn.p50Ms.toFixed(1)} ms, p99 ${turn.p99Ms.toFixed(1)} ms`;
  bench.say(
    'd',
    `the service: ${perSecond.toFixed(0)}/s, ${spread} (holding one end costs ${own} µs)\n${costs}`,
  );
  return { perSecond, cpuUs, turn };
}

async function cpuMsOf({ postgres }: Bench, subject: Subject): Promise<number> {
  const members = await subject.usage();
  return members.reduce((sum, { usage }) => sum + usage.cpuMs, postgres.cpuMs());
}

async function compareWithCompleted(database: BenchDatabase, ended: number): Promise<void> {
  const [completed] = await database.ask(`select count(*) from sessions.turns where status = 'completed'`);
  if (completed !== ended) throw new Error(`${ended} turns have ended, but ${completed} are completed`);
}
