import { createApi } from '../support/api.ts';
import { type Bench, type Spread, spreadOf } from './bench.ts';
import { type EventSocket, eventsPath, openEvents } from './event-socket.ts';
import { fillJournal, settle } from './fill.ts';
import { startWhole } from './subjects.ts';

export interface CatchUp extends Spread {
  events: number;
}

const EVENTS = 10_000;
const WARM_UPS = 2;
const TIMES = 20;

/** g: how long who joins a long session is behind: from its connection to `stream.caught_up`, with every event. */
export async function measureCatchUp(bench: Bench): Promise<CatchUp> {
  const events = Math.ceil(EVENTS * bench.scale);
  await using database = await bench.postgres.createDatabase();
  await using subject = await startWhole(database.url);
  const api = createApi(subject.origin);
  const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
  const path = eventsPath(String(body.data.session_id));
  await fillJournal(database, events);
  await settle(database);
  const port = Number(new URL(subject.origin).port);
  const times: number[] = [];
  let bytes = 0;
  for (let index = -WARM_UPS; index < TIMES * bench.scale; index++) {
    const one = await Promise.race([subject.failed, catchUp(port, path, events)]);
    bytes = one.bytes;
    if (index >= 0) times.push(one.ms);
  }
  const { p50Ms, p99Ms } = spreadOf(times);
  const size = `${events} events, ${(bytes / 1e6).toFixed(1)} MB`;
  bench.say(
    'g',
    `${size}: p50 ${p50Ms.toFixed(0)} ms, at most ${p99Ms.toFixed(0)} ms in ${times.length} times`,
  );
  return { events, p50Ms, p99Ms };
}

async function catchUp(port: number, path: string, events: number): Promise<{ ms: number; bytes: number }> {
  const done = Promise.withResolvers<void>();
  const begunAt = performance.now();
  let last = 0;
  const socket: EventSocket = openEvents(port, path, {
    frame({ seq, type }) {
      if (type === 'stream.caught_up') done.resolve();
      if (seq === undefined) return;
      if (seq !== last + 1) done.reject(new Error(`after event ${last} came ${seq}`));
      last = seq;
    },
    lost: done.reject,
  });
  await done.promise.finally(() => socket.close());
  if (last !== events) throw new Error(`caught up after ${last} of ${events} events`);
  return { ms: performance.now() - begunAt, bytes: socket.bytes() };
}
