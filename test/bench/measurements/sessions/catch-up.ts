import { createApi } from '../../../support/api.ts';
import { type Bench, type Spread, spreadOf, within } from '../../bench.ts';
import { type EventSocket, eventsPath, openEvents } from '../../clients/event-socket.ts';
import { fillJournal, runMaintenance } from '../../fixtures/fill.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

export interface CatchUp extends Spread {
  events: number;
}

const EVENTS = 10_000;
const WARM_UPS = 2;
const TIMES = 20;

/** g: the time from connection to `stream.caught_up` in a long session. */
export async function measureCatchUp(bench: Bench): Promise<CatchUp> {
  const events = Math.ceil(EVENTS * bench.scale);
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
  const path = eventsPath(String(body.data.session_id));
  await fillJournal(database, events);
  await runMaintenance(database);
  const port = Number(new URL(subject.origin).port);
  const times: number[] = [];
  let bytes = 0;
  for (let index = -WARM_UPS; index < TIMES * bench.scale; index++) {
    const result = await Promise.race([
      subject.failed,
      within('reading a session', catchUp(port, path, events)),
    ]);
    bytes = result.bytes;
    if (index >= 0) times.push(result.ms);
  }
  const { p50Ms, p99Ms } = spreadOf(times);
  const size = `${events} events, ${(bytes / 1e6).toFixed(1)} MB`;
  bench.print(
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
      if (seq !== last + 1) done.reject(new Error(`event ${seq} follows event ${last}`));
      last = seq;
    },
    lost: done.reject,
  });
  await done.promise.finally(() => socket.close());
  if (last !== events) throw new Error(`caught up after ${last} of ${events} events`);
  return { ms: performance.now() - begunAt, bytes: socket.bytes() };
}
