import { maxOpenFiles } from '../../../../lib/open-files.ts';
import { createApi } from '../../../support/api.ts';
import { type Bench, pause } from '../../bench.ts';
import { eventsPath } from '../../clients/event-socket.ts';
import { fillSessions, idleSession, sessionsFor } from '../../fixtures/fill.ts';
import type { Footprint } from '../../subjects/probe.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startBareStreams, startSingleProcess } from '../../subjects/subjects.ts';
import type { StreamsJob } from '../../workers/streams-worker.ts';
import { startWorker } from '../../workers/worker.ts';

/** Growth of the process per connection in bytes. */
export type PerConnection = Footprint;

export interface Idle {
  connections: number;
  service: PerConnection;
  bare: PerConnection;
}

const CONNECTIONS = 5_000;
/** File descriptors for other purposes than streams. */
const OTHER_FILES = 500;
/** Share of streams opened before the first measurement, which excludes one-time allocations. */
const FIRST_SHARE = 0.2;
const SETTLE_MS = 300;
const TIMEOUT_MS = 120_000;

/** f: the cost of an idle stream, each on its own session. */
export async function measureIdle(bench: Bench): Promise<Idle> {
  const requested = Math.ceil(CONNECTIONS * bench.scale);
  const connections = Math.min(requested, maxOpenFiles() - OTHER_FILES);
  if (connections < requested)
    bench.print('f', `ulimit -n permits only ${connections} of ${requested} connections`);
  const bare = await measureBareStreams(bench, connections);
  const service = await measureService(bench, connections);
  return { connections, bare, service };
}

async function measureBareStreams(bench: Bench, connections: number): Promise<PerConnection> {
  await using subject = await startBareStreams([0]);
  const paths = Array<string>(connections).fill('/0');
  return report(bench, 'bare node:http', connections, await measure(subject, paths));
}

async function measureService(bench: Bench, connections: number): Promise<PerConnection> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const { status } = await api.post(`/agents/${await api.createAgent()}/conversations`);
  if (status !== 201) throw new Error(`a conversation was answered with ${status}`);
  await fillSessions(database, sessionsFor(connections));
  const paths = Array.from({ length: connections }, (_, index) => eventsPath(idleSession(index)));
  return report(bench, 'the service', connections, await measure(subject, paths));
}

async function measure(subject: Subject, paths: string[]): Promise<PerConnection> {
  const openStreams = (some: string[]) => {
    const job: StreamsJob = { port: Number(new URL(subject.origin).port), paths: some };
    return startWorker<never>('streams-worker.ts', job, { timeoutMs: TIMEOUT_MS, failed: subject.failed });
  };
  const firsts = Math.ceil(paths.length * FIRST_SHARE);
  await using first = openStreams(paths.slice(0, firsts));
  await first.ready;
  await pause(SETTLE_MS);
  const before = await subject.footprint();
  await using others = openStreams(paths.slice(firsts));
  await others.ready;
  await pause(SETTLE_MS);
  const after = await subject.footprint();
  const share = (of: keyof Footprint) => (after[of] - before[of]) / (paths.length - firsts);
  return { heap: share('heap'), resident: share('resident'), lasting: share('lasting') };
}

function report(bench: Bench, what: string, connections: number, figure: PerConnection): PerConnection {
  const { heap, resident, lasting } = figure;
  const size = `${inKib(lasting)} each, of which ${inKib(heap)} are objects`;
  const reserve = `${inKib(resident)} with the free memory of V8`;
  bench.print('f', `${what}, ${connections} idle streams: ${size}; ${reserve}`);
  return figure;
}

export const inKib = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
