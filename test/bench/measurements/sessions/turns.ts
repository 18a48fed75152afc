import { createApi } from '../../../support/api.ts';
import { type Bench, type Spread, spreadOf } from '../../bench.ts';
import { MESSAGE, TURNS_PER_CONVERSATION } from '../../fixtures/conversation.ts';
import { createMeter } from '../../subjects/meter.ts';
import type { BenchDatabase } from '../../subjects/postgres.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';
import type { ConversationsFigures, ConversationsJob } from '../../workers/conversations-worker.ts';
import type { LoopFigures, LoopJob } from '../../workers/loop-worker.ts';
import { startWorker } from '../../workers/worker.ts';

export interface Turns {
  perSecond: number;
  /** CPU time of the service and its PostgreSQL per turn; NaN where the system does not report it. */
  cpuUs: number;
  /** Duration of a turn from its message to its end as read by a follower. */
  turn: Spread;
  /** The reference: the same conversations in a loop around the model library without a service. */
  streamText: Loop;
  /** The same loop around `doStream`. */
  doStream: Loop;
}

interface Loop {
  perSecond: number;
  cpuUs: number;
}

const CONVERSATIONS = 200;
const WARM_UP_MS = 2_000;
const TIMEOUT_MS = 30_000;

/** d: conversations without pauses, compared with the same conversations in a bare loop. */
export async function measureTurns(bench: Bench): Promise<Turns> {
  const conversations = Math.ceil(CONVERSATIONS * bench.scale);
  const timing = {
    conversations,
    warmUpMs: Math.min(WARM_UP_MS, bench.durationMs),
    durationMs: bench.durationMs,
  };
  const words = MESSAGE.split(' ').length;
  bench.print(
    'd',
    `${conversations} conversations of ${TURNS_PER_CONVERSATION} turns, ${words} words each, with rehearsal/echo`,
  );
  const { warmUpMs, durationMs } = timing;
  const loop = (by: LoopJob['by'], atOnce: number) =>
    measureLoop(bench, { by, atOnce, warmUpMs, durationMs });
  const concurrent = await loop('streamText', conversations);
  const sequential = await loop('streamText', 1);
  const doStream = await loop('doStream', conversations);
  // Concurrent conversations compete for CPU caches, so the reference is the better of both.
  const streamText = concurrent.perSecond > sequential.perSecond ? concurrent : sequential;
  return { ...(await measureService(bench, timing)), streamText, doStream };
}

async function measureLoop(bench: Bench, job: LoopJob): Promise<Loop> {
  const timeoutMs = job.warmUpMs + job.durationMs + TIMEOUT_MS;
  await using worker = startWorker<LoopFigures>('loop-worker.ts', job, { timeoutMs });
  const { turns, elapsedMs, cpuMs } = await worker.figures;
  const perSecond = turns / (elapsedMs / 1_000);
  const cpuUs = (cpuMs / turns) * 1_000;
  const costs = `${perSecond.toFixed(0)}/s, CPU per turn: ${cpuUs.toFixed(0)} µs`;
  bench.print('d', `bare loop around ${job.by}, ${job.atOnce} at a time: ${costs}`);
  return { perSecond, cpuUs };
}

async function measureService(bench: Bench, timing: Omit<ConversationsJob, 'port' | 'agent'>) {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const agent = await createApi(subject.origin).createAgent();
  const job: ConversationsJob = { ...timing, agent, port: Number(new URL(subject.origin).port) };
  const timeoutMs = job.warmUpMs + job.durationMs + TIMEOUT_MS;
  const meter = createMeter(bench, subject);
  await using conversations = startWorker<ConversationsFigures>('conversations-worker.ts', job, {
    timeoutMs,
    failed: subject.failed,
  });
  await conversations.ready;
  await meter.begin();
  const before = await cpuMsOf(bench, subject);
  const { ended, turnsMs, cpuMs } = await conversations.figures;
  const cpuUs = (((await cpuMsOf(bench, subject)) - before) / turnsMs.length) * 1_000;
  const costs = await meter.end(turnsMs.length, 'turn');
  await compareWithCompleted(database, ended);
  const perSecond = turnsMs.length / (job.durationMs / 1_000);
  const turn = spreadOf(turnsMs);
  const own = ((cpuMs / turnsMs.length) * 1_000).toFixed(0);
  const spread = `p50 ${turn.p50Ms.toFixed(1)} ms, p99 ${turn.p99Ms.toFixed(1)} ms`;
  bench.print(
    'd',
    `the service: ${perSecond.toFixed(0)}/s, ${spread} (the client side costs ${own} µs)\n${costs}`,
  );
  return { perSecond, cpuUs, turn };
}

async function cpuMsOf({ postgres }: Bench, subject: Subject): Promise<number> {
  const members = await subject.usage();
  return members.reduce((sum, { usage }) => sum + usage.cpuMs, postgres.cpuMs());
}

async function compareWithCompleted(database: BenchDatabase, ended: number): Promise<void> {
  const [completed] = await database.queryRow(
    `select count(*) from sessions.turns where status = 'completed'`,
  );
  if (completed !== ended) throw new Error(`${ended} turns have ended, but ${completed} are completed`);
}
