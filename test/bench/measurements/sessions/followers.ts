import { type Api, createApi } from '../../../support/api.ts';
import { type Bench, pause, type Spread } from '../../bench.ts';
import { eventsPath } from '../../clients/event-socket.ts';
import { createMeter } from '../../subjects/meter.ts';
import type { BenchDatabase } from '../../subjects/postgres.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startBareStreams, startSingleProcess } from '../../subjects/subjects.ts';
import type { FollowersFigures, FollowersJob } from '../../workers/followers-worker.ts';
import { startWorker } from '../../workers/worker.ts';

export interface Followers {
  /** Events spread over all sessions. */
  spread: Spread;
  /** All followers on one session, which has a higher event rate. */
  crowd: Spread;
  bareSpread: Spread;
  bareCrowd: Spread;
}

/** The intervals between deltas of the sending agents, in milliseconds. */
interface Scene {
  paces: number[];
  /** The index of the session that each follower follows. */
  audience: number[];
}

const FOLLOWERS = 500;
/** 500 events per second in total: 100 sessions with 5 each, or one with 25 and 95 with 5. */
const SESSIONS = 100;
const CROWDED_SESSIONS = 96;
const EVERY_MS = 200;
const CROWDED_EVERY_MS = 40;
const WARM_UP_MS = 1_000;
/** Additional time for the followers to connect. */
const ARRIVAL_MS = 10_000;
const TIMEOUT_MS = 30_000;
const PIECE = 'and then ';

/** e: the time from journaling an event until a follower has read it, with many active sessions. */
export async function measureFollowers(bench: Bench): Promise<Followers> {
  const spread = scattered(bench.scale);
  const crowd = crowded(bench.scale);
  const bareSpread = await measureBareStreams(bench, 'scattered', spread);
  const bareCrowd = await measureBareStreams(bench, 'on one', crowd);
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const service = { database, subject };
  return {
    bareSpread,
    bareCrowd,
    spread: await measureService(bench, service, 'scattered', spread),
    crowd: await measureService(bench, service, 'on one', crowd),
  };
}

function scattered(scale: number): Scene {
  const paces = Array<number>(Math.ceil(SESSIONS * scale)).fill(EVERY_MS);
  const followers = Math.ceil(FOLLOWERS * scale);
  return { paces, audience: Array.from({ length: followers }, (_, index) => index % paces.length) };
}

function crowded(scale: number): Scene {
  const paces = Array<number>(Math.ceil(CROWDED_SESSIONS * scale)).fill(EVERY_MS);
  paces[0] = CROWDED_EVERY_MS;
  return { paces, audience: Array<number>(Math.ceil(FOLLOWERS * scale)).fill(0) };
}

async function measureBareStreams(bench: Bench, how: string, { paces, audience }: Scene): Promise<Spread> {
  await using subject = await startBareStreams(paces);
  const paths = audience.map((session) => `/${session}`);
  await using worker = startAudience(bench, subject, paths);
  const figures = await worker.figures;
  bench.print('e', `${audience.length} followers ${how}, bare: ${describe(figures, bench)}`);
  return figures;
}

async function measureService(
  bench: Bench,
  { database, subject }: { database: BenchDatabase; subject: Subject },
  how: string,
  { paces, audience }: Scene,
): Promise<Spread> {
  const lengthMs = ARRIVAL_MS + WARM_UP_MS + bench.durationMs;
  const api = createApi(subject.origin);
  const sessions = await beginSpeeches(api, paces, lengthMs);
  const paths = audience.map((session) => eventsPath(sessions[session] ?? ''));
  const meter = createMeter(bench, subject);
  const events = async () => (await database.queryRow('select sum(last_seq) from sessions.heads'))[0] ?? 0;

  await using worker = startAudience(bench, subject, paths);
  await worker.ready;
  const before = await events();
  await meter.begin();
  const figures = await worker.figures;
  const appended = (await events()) - before;
  const costs = await meter.end(figures.deliveries, 'delivery');
  // Interrupt the sessions that still stream, so that they do not affect the next measurement.
  await Promise.all(sessions.map((session) => api.send('DELETE', `/sessions/${session}`)));
  const rate = `${(appended / (bench.durationMs / 1_000)).toFixed(0)} events/s in ${paces.length} sessions`;
  bench.print('e', `${audience.length} followers ${how}, ${rate}: ${describe(figures, bench)}\n${costs}`);
  return figures;
}

function startAudience(bench: Bench, { origin, failed }: Subject, paths: string[]) {
  const warmUpMs = Math.min(WARM_UP_MS, bench.durationMs);
  const job: FollowersJob = {
    port: Number(new URL(origin).port),
    paths,
    warmUpMs,
    durationMs: bench.durationMs,
  };
  const timeoutMs = warmUpMs + bench.durationMs + TIMEOUT_MS;
  return startWorker<FollowersFigures>('followers-worker.ts', job, { timeoutMs, failed });
}

/** Creates one streaming session per interval, at staggered times. */
async function beginSpeeches(api: Api, paces: number[], lengthMs: number): Promise<string[]> {
  const agents = new Map<number, string>();
  for (const pace of new Set(paces)) agents.set(pace, await createSpeaker(api, pace, lengthMs));
  const sessions: string[] = [];
  for (const pace of paces) {
    const { status, body } = await api.post(`/agents/${agents.get(pace)}/conversations`, {
      message: 'Speak.',
    });
    if (status !== 201) throw new Error(`a conversation was answered with ${status}`);
    sessions.push(String(body.data.session_id));
    await pause(EVERY_MS / paces.length);
  }
  return sessions;
}

function createSpeaker(api: Api, delayMs: number, lengthMs: number): Promise<string> {
  const text = PIECE.repeat(Math.ceil(lengthMs / delayMs));
  const steps = [{ text, chunk_chars: PIECE.length, delay_ms: delayMs }];
  return api.createAgent({ name: 'Speaker', model: 'rehearsal/script', model_options: { steps } });
}

function describe({ p50Ms, p99Ms, deliveries, cpuMs }: FollowersFigures, { durationMs }: Bench): string {
  const own = ((cpuMs / deliveries) * 1_000).toFixed(0);
  const rate = (deliveries / (durationMs / 1_000)).toFixed(0);
  return `p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ${rate} deliveries/s (reading one costs ${own} µs)`;
}
