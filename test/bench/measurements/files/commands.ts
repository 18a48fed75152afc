import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Api, createApi } from '../../../support/api.ts';
import { type Bench, type Spread, spreadOf } from '../../bench.ts';
import { eventsPath } from '../../clients/event-socket.ts';
import { follow } from '../../clients/follower.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

export interface Commands {
  provider: string;
  /** `bash -c` without a sandbox, from its start to the first byte of output. */
  bare: Spread;
  /** From the claim of the turn to the first output in the journal, in a new and in an existing sandbox. */
  first: Spread;
  later: Spread;
}

const PROVIDERS = ['simulated', 'bubblewrap'];
const SESSIONS = 20;
const COMMANDS_EACH = 5;
const WAIT_MS = 30_000;
const ENDED = new Set(['completed', 'failed']);

/** m: one command at a time, from the claim of the turn to its first output. */
export async function measureCommands(bench: Bench): Promise<Commands[]> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const sessions = Math.max(2, Math.ceil(SESSIONS * bench.scale));
  const bare = spreadOf(await bareCommands(sessions * COMMANDS_EACH));
  bench.print('m', `bare bash: first output after p50 ${bare.p50Ms.toFixed(1)} ms`);
  const measured: Commands[] = [];
  for (const provider of PROVIDERS) {
    const found = await measureProvider(subject, provider, sessions);
    if (!found) {
      bench.print('m', `${provider}: unavailable on this machine`);
      continue;
    }
    const { first, later } = found;
    const show = ({ p50Ms, p99Ms }: Spread) => `p50 ${p50Ms.toFixed(0)}, p99 ${p99Ms.toFixed(0)} ms`;
    bench.print('m', `${provider}: in a new sandbox ${show(first)}; in an existing one ${show(later)}`);
    measured.push({ provider, bare, first, later });
  }
  return measured;
}

async function bareCommands(times: number): Promise<number[]> {
  const durations: number[] = [];
  for (let index = 0; index < times; index++) {
    const begunAt = performance.now();
    const child = spawn('bash', ['-c', 'echo hello'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    durations.push(performance.now() - begunAt);
    await exited;
  }
  return durations;
}

/** Undefined if the provider is unavailable on this machine. */
async function measureProvider(subject: Subject, provider: string, sessions: number) {
  const api = createApi(subject.origin);
  const spec = { sandbox: { provider, command_timeout_seconds: 60 }, network: { mode: 'none' } };
  const created = await api.post('/admin/environments', { name: `bench-${provider}`, ...spec });
  const environment_id = created.body.data.environment_id;
  const agent = await api.createAgent({ model: 'rehearsal/shell', environment_id });
  const first: number[] = [];
  const later: number[] = [];
  for (let index = 0; index < sessions; index++) {
    const { body } = await api.post(`/agents/${agent}/conversations`);
    const session = String(body.data.session_id);
    // Without a follower, output is reported later.
    const follower = follow(subject.origin + eventsPath(session));
    await follower.waitFor('event: stream.caught_up');
    for (let command = 0; command < COMMANDS_EACH; command++) {
      const ms = await Promise.race([subject.failed, firstOutput(api, session)]);
      if (ms === undefined) return undefined;
      (command === 0 ? first : later).push(ms);
    }
    follower.leave();
  }
  return { first: spreadOf(first), later: spreadOf(later) };
}

interface JournalEvent {
  type: string;
  created_at: string;
  data: { is_error?: boolean };
}

/** Uses the times in the journal. Undefined if the command could not run. */
async function firstOutput(api: Api, session: string): Promise<number | undefined> {
  const { body } = await api.post(`/sessions/${session}/messages`, { content: '$ echo hello' });
  const { turn_id: turn, seq } = body.data;
  const end = performance.now() + WAIT_MS;
  for (;;) {
    const { body: read } = await api.get(`/sessions/${session}/turns/${turn}`);
    if (ENDED.has(String(read.data.status))) break;
    if (performance.now() > end) throw new Error(`a command has not ended within ${WAIT_MS} ms`);
  }
  const events = (await api.get(`/sessions/${session}/events?after_seq=${seq}&limit=100`)).body
    .data as JournalEvent[];
  const timeOf = (type: string) => Date.parse(events.find((event) => event.type === type)?.created_at ?? '');
  if (events.some(({ type, data }) => type === 'agent.tool_result' && data.is_error)) return undefined;
  const ms = timeOf('agent.tool_progress') - timeOf('turn.started');
  if (Number.isNaN(ms)) throw new Error('a command printed nothing');
  return ms;
}
