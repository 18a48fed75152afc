import { type Api, createApi } from '../support/api.ts';
import { type Bench, percentile } from './bench.ts';
import { type EventSocket, eventsPath, openEvents } from './event-socket.ts';
import { AT_WORK, fillJournal, fillSessions, idleSession, idOf, settle } from './fill.ts';
import type { Subject } from './subject.ts';
import { startWhole } from './subjects.ts';

/** In milliseconds, by what was asked for: on a small database, and on a large one. */
export interface Size {
  questions: { what: string; smallMs: number; largeMs: number }[];
}

/** Sessions, and events in one of them, before the bench asks. */
interface Amount {
  sessions: number;
  events: number;
}

/** A database so full, and the service on it. */
interface Place extends Amount {
  subject: Subject;
  api: Api;
  port: number;
  agent: string;
  /** The session with so many events. */
  session: string;
  /** The last event of it that the bench has heard of. */
  lastSeq: number;
}

const SMALL: Amount = { sessions: 1_000, events: 1_000 };
const LARGE: Amount = { sessions: 1_000_000, events: 100_000 };
const WARM_UPS = 5;
const TIMES = 48;
const PAGE = 50;

type Question = (place: Place, time: number) => Promise<void>;

const QUESTIONS: Record<string, Question> = {
  'list, first page': (place) => list(place, ''),
  'list, a page in the middle': async (place, time) => {
    const deep = Math.floor(place.sessions / 2) - time;
    await list(place, `&cursor=${await cursorAt(place, deep)}`);
  },
  "list, an agent's": (place) => list(place, `&agent_id=${place.agent}`, 10),
  'list, running': (place) => list(place, '&status=running', AT_WORK),
  'list, waiting for somebody': (place) => list(place, '&needs_action=true', AT_WORK),
  'open a session': async (place, time) => {
    // Far from each other, as visitors' sessions are.
    const step = Math.floor(place.sessions / 2 / (WARM_UPS + TIMES + AT_WORK));
    await ask(place, `/sessions/${idleSession(step * (time + WARM_UPS))}`);
  },
  'a page of events': async (place) => {
    const path = `/sessions/${place.session}/events?after_seq=${place.events / 2}&limit=100`;
    const { data } = await ask(place, path);
    if (data.length !== 100) throw new Error(`a page of events has ${data.length}`);
  },
  'follow from near the end': async (place) => {
    const { caughtUp, socket } = follow(place, place.lastSeq - 10);
    await caughtUp.finally(() => socket.close());
  },
  'send, and be answered': send,
};

/** h: whether what is asked of a large database costs more than on a small one, in turns on both. */
export async function measureSize(bench: Bench): Promise<Size> {
  await using ground = new AsyncDisposableStack();
  const small = await open(bench, ground, SMALL);
  const amount = { sessions: LARGE.sessions * bench.scale, events: LARGE.events * bench.scale };
  const large = await open(bench, ground, {
    sessions: Math.max(SMALL.sessions, Math.ceil(amount.sessions)),
    events: Math.max(SMALL.events, Math.ceil(amount.events)),
  });
  const questions: Size['questions'] = [];
  for (const [what, question] of Object.entries(QUESTIONS)) {
    const [smallMs = 0, largeMs = 0] = await compare([small, large], question);
    bench.say('h', `${what}: ${smallMs.toFixed(2)} ms, ${largeMs.toFixed(2)} ms on the large one`);
    questions.push({ what, smallMs, largeMs });
  }
  return { questions };
}

/** Asks both in turns, so that what slows the machine for a while slows both. */
async function compare(places: Place[], question: Question): Promise<number[]> {
  const times = places.map((): number[] => []);
  for (let time = -WARM_UPS; time < TIMES; time++) {
    for (const [index, place] of places.entries()) {
      const begunAt = performance.now();
      await Promise.race([place.subject.failed, question(place, time)]);
      if (time >= 0) times[index]?.push(performance.now() - begunAt);
    }
  }
  return times.map((one) => percentile(one, 0.5));
}

async function open(bench: Bench, ground: AsyncDisposableStack, amount: Amount): Promise<Place> {
  const begunAt = performance.now();
  const database = ground.use(await bench.postgres.createDatabase());
  const subject = ground.use(await startWhole(database.url));
  const api = createApi(subject.origin);
  const agent = await api.createAgent();
  const { body } = await api.post(`/agents/${agent}/conversations`);
  await fillJournal(database, amount.events);
  await fillSessions(database, amount.sessions);
  await settle(database);
  const [bytes = 0] = await database.ask('select pg_database_size(current_database())');
  const seconds = ((performance.now() - begunAt) / 1_000).toFixed(0);
  const { sessions, events } = amount;
  const filled = `${sessions} sessions, ${events} events in one of them: ${(bytes / 1e6).toFixed(0)} MB`;
  bench.say('h', `${filled}, filled in ${seconds} s`);
  const port = Number(new URL(subject.origin).port);
  return { ...amount, subject, api, port, agent, session: String(body.data.session_id), lastSeq: events };
}

async function ask({ api }: Place, path: string) {
  const { status, body } = await api.get(path);
  if (status !== 200) throw new Error(`${path} was answered with ${status}`);
  return body;
}

async function list(place: Place, query: string, expected = PAGE): Promise<void> {
  const { data } = await ask(place, `/sessions?limit=${expected}${query}`);
  if (data.length !== expected) throw new Error(`a list with ${query} has ${data.length} sessions`);
}

/** Cursors that were made before, as asking for one is not what is measured. */
const firstCursors = new WeakMap<Place, Buffer>();

/** A cursor of the list that goes on behind one of its sessions: its end is the id of the session. */
async function cursorAt(place: Place, number: number): Promise<string> {
  const id = idOf(number);
  let known = firstCursors.get(place);
  if (!known) {
    const { page } = await ask(place, `/sessions?limit=${PAGE}`);
    known = Buffer.from(page?.next_cursor ?? '', 'base64url');
    firstCursors.set(place, known);
  }
  return Buffer.concat([known.subarray(0, -id.length), Buffer.from(id)]).toString('base64url');
}

function follow({ port, session }: Place, afterSeq: number) {
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

/** Into the session with so many events. What was said before is the same in both. */
async function send(place: Place): Promise<void> {
  const { idle, socket } = follow(place, place.lastSeq);
  const { status } = await place.api.post(`/sessions/${place.session}/messages`, { content: 'And then?' });
  if (status !== 202) throw new Error(`a message was answered with ${status}`);
  place.lastSeq = await idle.finally(() => socket.close());
}
