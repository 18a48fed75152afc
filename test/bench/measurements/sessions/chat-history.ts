import pg from 'pg';
import { createApi } from '../../../support/api.ts';
import { type Bench, percentile, within } from '../../bench.ts';
import { fillTurns, runMaintenance } from '../../fixtures/fill.ts';
import { heaviest } from '../../subjects/profile.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

/** Milliseconds of `GET /sessions/{session_id}/ai-messages`, and of reading and parsing the same rows without a service. */
export interface ChatHistory {
  events: number;
  p50Ms: number;
  p95Ms: number;
  bareMs: number;
}

const EVENTS = 10_000;
const WARM_UPS = 5;
const TIMES = 40;

/** z: the chat of a session with turns of 100 events, of which 85 are deltas. Alternates with the bare limit. */
export async function measureChatHistory(bench: Bench): Promise<ChatHistory> {
  const events = Math.ceil(EVENTS * bench.scale);
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
  const session = String(body.data.session_id);
  await fillTurns(database, events);
  await runMaintenance(database);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const [times, bareTimes]: [number[], number[]] = [[], []];
  if (bench.profiling) await subject.startProfile();
  try {
    for (let time = -WARM_UPS; time < TIMES * bench.scale; time++) {
      const ours = await timed(() => Promise.race([subject.failed, within('a chat', read())]));
      const bare = await timed(() => readBare(client, session, events));
      if (time >= 0) times.push(ours);
      if (time >= 0) bareTimes.push(bare);
    }
  } finally {
    await client.end();
  }
  const [p50Ms, p95Ms] = [percentile(times, 0.5), percentile(times, 0.95)];
  const bareMs = percentile(bareTimes, 0.5);
  const figures = `p50 ${p50Ms.toFixed(0)} ms, p95 ${p95Ms.toFixed(0)} ms, bare ${bareMs.toFixed(0)} ms`;
  bench.print('z', `the chat of ${events} events: ${figures}`);
  if (bench.profiling) bench.print('', heaviest(await subject.endProfile()).join('\n'));
  return { events, p50Ms, p95Ms, bareMs };

  async function read(): Promise<void> {
    const { status, body } = await api.get(`/sessions/${session}/ai-messages`);
    // Each complete turn has a message of the user and an answer.
    const expected = 2 * Math.floor(events / 100 - 1);
    if (status !== 200 || body.data.length < expected)
      throw new Error(`the chat was answered with ${status} and ${body.data?.length} messages`);
  }
}

async function readBare(client: pg.Client, session: string, events: number): Promise<void> {
  const { rows } = await client.query<{ events: string }>({
    name: 'bare.chat',
    text: 'select events::text as events from sessions.journal where session_id = $1 order by last_seq',
    values: [session],
  });
  const read = rows.reduce((sum, row) => sum + JSON.parse(row.events).length, 0);
  if (read !== events) throw new Error(`the journal has ${read} of ${events} events`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begunAt = performance.now();
  await work();
  return performance.now() - begunAt;
}
