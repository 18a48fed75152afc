import { readFileSync } from 'node:fs';
import { createApi } from '../support/api.ts';
import { type Bench, pause } from './bench.ts';
import { startErrand } from './errand.ts';
import { eventsPath } from './event-socket.ts';
import { fillSessions, idleSession, sessionsFor } from './fill.ts';
import type { HoldJob } from './holder.ts';
import type { Footprint } from './probe.ts';
import type { Subject } from './subject.ts';
import { startBareStreams, startWhole } from './subjects.ts';

/** Bytes by which the process grows with each connection. */
export type PerConnection = Footprint;

export interface Idle {
  connections: number;
  service: PerConnection;
  bare: PerConnection;
}

const CONNECTIONS = 5_000;
/** Descriptors that a process needs for everything else. */
const OTHERS = 500;
/** The first ones are held before anything is measured: what they load and allocate once is nobody's share. */
const FIRST_SHARE = 0.2;
const SETTLE_MS = 300;
const LATE_MS = 120_000;

/** f: what a stream costs in which nothing happens, each on a session of its own. */
export async function measureIdle(bench: Bench): Promise<Idle> {
  const wanted = Math.ceil(CONNECTIONS * bench.scale);
  const connections = Math.min(wanted, openFiles() - OTHERS);
  if (connections < wanted)
    bench.say('f', `ulimit -n leaves room for ${connections} connections, not ${wanted}`);
  const bare = await measureBareStreams(bench, connections);
  const service = await measureService(bench, connections);
  return { connections, bare, service };
}

async function measureBareStreams(bench: Bench, connections: number): Promise<PerConnection> {
  await using subject = await startBareStreams([0]);
  const paths = Array<string>(connections).fill('/0');
  return tell(bench, 'bare node:http', connections, await measure(subject, paths));
}

async function measureService(bench: Bench, connections: number): Promise<PerConnection> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startWhole(database.url);
  const api = createApi(subject.origin);
  const { status } = await api.post(`/agents/${await api.createAgent()}/conversations`);
  if (status !== 201) throw new Error(`a conversation was answered with ${status}`);
  await fillSessions(database, sessionsFor(connections));
  const paths = Array.from({ length: connections }, (_, index) => eventsPath(idleSession(index)));
  return tell(bench, 'the service', connections, await measure(subject, paths));
}

async function measure(subject: Subject, paths: string[]): Promise<PerConnection> {
  const hold = (some: string[]) => {
    const job: HoldJob = { port: Number(new URL(subject.origin).port), paths: some };
    return startErrand<never>('holder.ts', job, { lateMs: LATE_MS, failed: subject.failed });
  };
  const firsts = Math.ceil(paths.length * FIRST_SHARE);
  await using first = hold(paths.slice(0, firsts));
  await first.ready;
  await pause(SETTLE_MS);
  const before = await subject.footprint();
  await using others = hold(paths.slice(firsts));
  await others.ready;
  await pause(SETTLE_MS);
  const after = await subject.footprint();
  const share = (of: keyof Footprint) => (after[of] - before[of]) / (paths.length - firsts);
  return { heap: share('heap'), resident: share('resident'), lasting: share('lasting') };
}

/** How many files a process may have open: Node raises what it was given to the most that it may have. */
function openFiles(): number {
  try {
    const [, limit] = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(limit) || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function tell(bench: Bench, what: string, connections: number, figure: PerConnection): PerConnection {
  const { heap, resident, lasting } = figure;
  const size = `${inKib(lasting)} each, of which ${inKib(heap)} are objects`;
  const young = `${inKib(resident)} with the growth of the young generation`;
  bench.say('f', `${what}, ${connections} idle streams: ${size}; ${young}`);
  return figure;
}

export const inKib = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
