import { type Api, createApi } from '../support/api.ts';
import type { AudienceFigures, AudienceJob } from './audience.ts';
import { type Bench, pause, type Spread } from './bench.ts';
import { startErrand } from './errand.ts';
import { eventsPath } from './event-socket.ts';
import { createMeter } from './meter.ts';
import type { BenchDatabase } from './postgres.ts';
import type { Subject } from './subject.ts';
import { startBareStreams, startWhole } from './subjects.ts';

export interface Followers {
  /** Over all sessions that speak. */
  spread: Spread;
  /** All on one session, which speaks faster than the others. */
  crowd: Spread;
  bareSpread: Spread;
  bareCrowd: Spread;
}

/** Agents that speak, and how long each waits between two pieces of what it says. */
interface Scene {
  paces: number[];
  /** Which of them each follower follows. */
  audience: number[];
}

const FOLLOWERS = 500;
/** Five hundred events a second in all: a hundred sessions with five each, or one with 25 and 95 with five. */
const SESSIONS = 100;
const CROWDED_SESSIONS = 96;
const EVERY_MS = 200;
const CROWDED_EVERY_MS = 40;
const WARM_UP_MS = 1_000;
/** For as long as the followers may take to arrive. */
const ARRIVAL_MS = 10_000;
const LATE_MS = 30_000;
const PIECE = 'and then ';

/** e: from the moment an event is journalled until a follower has read it, while many sessions speak. */
export async function measureFollowers(bench: Bench): Promise<Followers> {
  const spread = scattered(bench.scale);
  const crowd = crowded(bench.scale);
  const bareSpread = await measureBareStreams(bench, 'scattered', spread);
  const bareCrowd = await measureBareStreams(bench, 'on one', crowd);
  await using database = await bench.postgres.createDatabase();
  await using subject = await startWhole(database.url);
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
  await using errand = startAudience(bench, subject, paths);
  const figures = await errand.figures;
  bench.say('e', `${audience.length} followers ${how}, bare: ${describe(figures, bench)}`);
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
  const events = async () => (await database.ask('select sum(last_seq) from sessions.heads'))[0] ?? 0;

  await using errand = startAudience(bench, subject, paths);
  await errand.ready;
  const before = await events();
  await meter.begin();
  const figures = await errand.figures;
  const appended = (await events()) - before;
  const costs = await meter.end(figures.deliveries, 'delivery');
  // What comes next is measured without those that still speak.
  await Promise.all(sessions.map((session) => api.send('DELETE', `/sessions/${session}`)));
  const rate = `${(appended / (bench.durationMs / 1_000)).toFixed(0)} events/s in ${paces.length} sessions`;
  bench.say('e', `${audience.length} followers ${how}, ${rate}: ${describe(figures, bench)}\n${costs}`);
  return figures;
}

function startAudience(bench: Bench, { origin, failed }: Subject, paths: string[]) {
  const warmUpMs = Math.min(WARM_UP_MS, bench.durationMs);
  const job: AudienceJob = {
    port: Number(new URL(origin).port),
    paths,
    warmUpMs,
    durationMs: bench.durationMs,
  };
  const lateMs = warmUpMs + bench.durationMs + LATE_MS;
  return startErrand<AudienceFigures>('audience.ts', job, { lateMs, failed });
}

/** A session for each pace, in which an agent speaks for so long. They do not all speak in the same moment. */
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

function describe({ p50Ms, p99Ms, deliveries, cpuMs }: AudienceFigures, { durationMs }: Bench): string {
  const own = ((cpuMs / deliveries) * 1_000).toFixed(0);
  const rate = (deliveries / (durationMs / 1_000)).toFixed(0);
  return `p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ${rate} deliveries/s (reading one costs ${own} µs)`;
}
