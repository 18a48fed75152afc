import { type Api, createApi } from '../../../support/api.ts';
import { type Bench, percentile, within } from '../../bench.ts';
import { type EventSocket, eventsPath, openEvents } from '../../clients/event-socket.ts';
import {
  ACTIVE_SESSIONS,
  fillJournal,
  fillSessions,
  idleSession,
  runMaintenance,
  sessionIdOf,
} from '../../fixtures/fill.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

/** Median milliseconds per operation, on a small and on a large database. */
export interface Size {
  operations: { what: string; smallMs: number; largeMs: number }[];
}

/** Number of sessions, and of events in one session, before the measurement. */
interface Amount {
  sessions: number;
  events: number;
}

/** A filled database and the service on it. */
interface FilledDatabase extends Amount {
  subject: Subject;
  api: Api;
  port: number;
  agent: string;
  /** The session with the long journal. */
  session: string;
  /** The last known seq of that session. */
  lastSeq: number;
}

const SMALL: Amount = { sessions: 1_000, events: 1_000 };
const LARGE: Amount = { sessions: 1_000_000, events: 100_000 };
const WARM_UPS = 5;
const TIMES = 48;
const PAGE = 50;

type Operation = (target: FilledDatabase, time: number) => Promise<void>;

const OPERATIONS: Record<string, Operation> = {
  'list, first page': (target) => list(target, ''),
  'list, a page in the middle': async (target, time) => {
    const deep = Math.floor(target.sessions / 2) - time;
    await list(target, `&cursor=${await cursorAt(target, deep)}`);
  },
  "list, an agent's": (target) => list(target, `&agent_id=${target.agent}`, 10),
  'list, running': (target) => list(target, '&status=running', ACTIVE_SESSIONS),
  'list, needs_action=true': (target) => list(target, '&needs_action=true', ACTIVE_SESSIONS),
  'list, state=failed': (target) => list(target, '&state=failed', ACTIVE_SESSIONS),
  'list, state=completed': (target) => list(target, '&state=completed'),
  'list, state=stopped': (target) => list(target, '&state=stopped', 0),
  'list, four states': (target) =>
    list(target, '&state=running&state=failed&state=stopped&state=needs_approval', 3 * ACTIVE_SESSIONS),
  'open a session': async (target, time) => {
    // Spread over the table, like sessions of different users.
    const step = Math.floor(target.sessions / 2 / (WARM_UPS + TIMES + ACTIVE_SESSIONS));
    await get(target, `/sessions/${idleSession(step * (time + WARM_UPS))}`);
  },
  'a page of events': async (target) => {
    const path = `/sessions/${target.session}/events?after_seq=${target.events / 2}&limit=100`;
    const { data } = await get(target, path);
    if (data.length !== 100) throw new Error(`a page of events has ${data.length}`);
  },
  'follow from near the end': async (target) => {
    const { caughtUp, socket } = follow(target, target.lastSeq - 10);
    await caughtUp.finally(() => socket.close());
  },
  'send a message until its answer': send,
};

/** h: operations on a large database compared with a small one, alternating between both. */
export async function measureSize(bench: Bench): Promise<Size> {
  await using resources = new AsyncDisposableStack();
  const small = await open(bench, resources, SMALL);
  const amount = { sessions: LARGE.sessions * bench.scale, events: LARGE.events * bench.scale };
  const large = await open(bench, resources, {
    sessions: Math.max(SMALL.sessions, Math.ceil(amount.sessions)),
    events: Math.max(SMALL.events, Math.ceil(amount.events)),
  });
  const operations: Size['operations'] = [];
  for (const [what, question] of Object.entries(OPERATIONS)) {
    const [smallMs = 0, largeMs = 0] = await compare([small, large], question);
    bench.print('h', `${what}: ${smallMs.toFixed(2)} ms, ${largeMs.toFixed(2)} ms on the large one`);
    operations.push({ what, smallMs, largeMs });
  }
  return { operations };
}

/** Alternates between both, so that a temporary slowdown of the machine affects both. */
async function compare(databases: FilledDatabase[], operation: Operation): Promise<number[]> {
  const times = databases.map((): number[] => []);
  for (let time = -WARM_UPS; time < TIMES; time++) {
    for (const [index, target] of databases.entries()) {
      const begunAt = performance.now();
      await Promise.race([target.subject.failed, within('an operation', operation(target, time))]);
      if (time >= 0) times[index]?.push(performance.now() - begunAt);
    }
  }
  return times.map((one) => percentile(one, 0.5));
}

async function open(bench: Bench, resources: AsyncDisposableStack, amount: Amount): Promise<FilledDatabase> {
  const begunAt = performance.now();
  const database = resources.use(await bench.postgres.createDatabase());
  const subject = resources.use(await startSingleProcess(database.url));
  const api = createApi(subject.origin);
  const agent = await api.createAgent();
  const { body } = await api.post(`/agents/${agent}/conversations`);
  await fillJournal(database, amount.events);
  await fillSessions(database, amount.sessions);
  await runMaintenance(database);
  const [bytes = 0] = await database.queryRow('select pg_database_size(current_database())');
  const seconds = ((performance.now() - begunAt) / 1_000).toFixed(0);
  const { sessions, events } = amount;
  const filled = `${sessions} sessions, ${events} events in one of them: ${(bytes / 1e6).toFixed(0)} MB`;
  bench.print('h', `${filled}, filled in ${seconds} s`);
  const port = Number(new URL(subject.origin).port);
  return { ...amount, subject, api, port, agent, session: String(body.data.session_id), lastSeq: events };
}

async function get({ api }: FilledDatabase, path: string) {
  const { status, body } = await api.get(path);
  if (status !== 200) throw new Error(`${path} was answered with ${status}`);
  return body;
}

async function list(target: FilledDatabase, query: string, expected = PAGE): Promise<void> {
  const { data } = await get(target, `/sessions?limit=${Math.max(1, expected)}${query}`);
  if (data.length !== expected) throw new Error(`a list with ${query} has ${data.length} sessions`);
}

/** Prepared cursors, because requesting one is not part of the measurement. */
const firstCursors = new WeakMap<FilledDatabase, Buffer>();

/** Returns a list cursor that continues after one session. A cursor ends with the session id. */
async function cursorAt(target: FilledDatabase, number: number): Promise<string> {
  const id = sessionIdOf(number);
  let first = firstCursors.get(target);
  if (!first) {
    const { page } = await get(target, `/sessions?limit=${PAGE}`);
    first = Buffer.from(page?.next_cursor ?? '', 'base64url');
    firstCursors.set(target, first);
  }
  return Buffer.concat([first.subarray(0, -id.length), Buffer.from(id)]).toString('base64url');
}

function follow({ port, session }: FilledDatabase, afterSeq: number) {
  const caughtUp = Promise.withResolvers<void>();
  const idle = Promise.withResolvers<number>();
  for (const { promise } of [caughtUp, idle]) promise.catch(() => {});
  const socket: EventSocket = openEvents(port, `${eventsPath(session)}?after_seq=${afterSeq}`, {
    frame({ type, seq }) {
      if (type === 'stream.caught_up') caughtUp.resolve();
      if (type === 'session.status_idle' && seq !== undefined) idle.resolve(seq);
    },
    lost(error) {
      caughtUp.reject(error);
      idle.reject(error);
    },
  });
  return { caughtUp: caughtUp.promise, idle: idle.promise, socket };
}

/** Sends a message to the session with the long journal. The model's history is equal in both databases. */
async function send(target: FilledDatabase): Promise<void> {
  const { idle, socket } = follow(target, target.lastSeq);
  const { status } = await target.api.post(`/sessions/${target.session}/messages`, { content: 'And then?' });
  if (status !== 202) throw new Error(`a message was answered with ${status}`);
  target.lastSeq = await idle.finally(() => socket.close());
}
