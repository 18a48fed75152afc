import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { eventsPath } from '../bench/clients/event-socket.ts';
import { startWorker } from '../bench/workers/worker.ts';
import { startFleet } from '../support/fleet.ts';
import { memoryOf } from '../support/process-memory.ts';
import { openRaw } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';
import type { ManyStreamsFigures, ManyStreamsJob } from './many-streams-worker.ts';

const STREAMS = 10_000;
const SESSIONS = 100;
const TIMEOUT_MS = 120_000;
/** An idle stream takes about 12 KiB; the young generation of a busy process varies. */
const MAX_BYTES_PER_STREAM = 40 * 1024;

describe('an edge with 10,000 event streams', () => {
  it('sends an event to every follower of its session, and stops cleanly', async () => {
    await using fleet = await startFleet();
    const { api } = fleet;
    const agent = await api.createAgent();
    const sessions = await Promise.all(
      Array.from({ length: SESSIONS }, async () => {
        const { body } = await api.post(`/agents/${agent}/conversations`);
        return String(body.data.session_id);
      }),
    );
    const before = memoryOf(fleet.pidOf('all')).now;
    const job: ManyStreamsJob = {
      port: Number(new URL(api.origin).port),
      paths: Array.from({ length: STREAMS }, (_, index) => eventsPath(sessions[index % SESSIONS] ?? '')),
    };
    await using clients = startWorker<ManyStreamsFigures>('../../real/many-streams-worker.ts', job, {
      timeoutMs: TIMEOUT_MS,
    });
    await clients.ready;
    const perStream = (memoryOf(fleet.pidOf('all')).now - before) / STREAMS;
    console.log(`${STREAMS} streams: ${(perStream / 1_024).toFixed(1)} KiB each`);
    expect(perStream).toBeLessThan(MAX_BYTES_PER_STREAM);
    await Promise.all(
      sessions.map(async (session) => {
        const { status } = await api.send('PATCH', `/sessions/${session}`, { title: 'A new title' });
        expect(status).toBe(200);
      }),
    );
    expect(await clients.figures).toEqual({ 1: STREAMS });
    expect(await fleet.end('all', 'SIGTERM')).toBe(0);
  });
});

/** Fewer than the process has open, so that it cannot open any. */
const NO_FILES = 10;

describe('a process that has no file descriptors left', () => {
  it('serves its open connections, and new ones when it has descriptors again', async () => {
    await using fleet = await startFleet();
    const pid = fleet.pidOf('all');
    const { origin } = fleet.api;
    const limitFiles = (limit: number) => {
      const { status } = spawnSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:`]);
      expect(status).toBe(0);
    };
    const open = openRaw(origin);
    await once(open.socket, 'connect');
    const get = async (connection: ReturnType<typeof openRaw>) => {
      let text = '';
      connection.socket.on('data', (chunk) => {
        text += chunk;
      });
      connection.send('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await until('a response or the end', () => text.includes('alive') || connection.socket.destroyed);
      return text.includes('alive');
    };
    expect(await get(open)).toBe(true);
    limitFiles(NO_FILES);
    const waiting = openRaw(origin);
    const answered = get(waiting);
    expect(await get(open)).toBe(true);
    limitFiles(1_000);
    // The system has accepted the connection, and the process takes it over now or closes it.
    await answered;
    const served = openRaw(origin);
    expect(await get(served)).toBe(true);
    for (const { socket } of [open, waiting, served]) socket.destroy();
    expect(await fleet.end('all', 'SIGTERM')).toBe(0);
  });
});
