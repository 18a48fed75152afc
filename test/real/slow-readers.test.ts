import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventsPath, openEvents } from '../bench/clients/event-socket.ts';
import { startFleet } from '../support/fleet.ts';
import { appendEvents } from '../support/journal.ts';
import { memoryOf } from '../support/process-memory.ts';
import { shape } from '../support/shape.ts';
import { until } from '../support/wait.ts';

const STALL_MS = 5_000;
const STALLED = 2_000;
const SLOW = 10;
/** 50 MB of short and long events, appended while clients follow. */
const APPENDS = [
  { count: 5_000, bytes: 1_000 },
  { count: 10, bytes: 1_000_000 },
  { count: 10_000, bytes: 1_000 },
  { count: 20, bytes: 1_000_000 },
  { count: 5_000, bytes: 1_000 },
];
/** 128 KiB for each stalled stream, and the garbage of a busy process, which is collected late on a loaded machine. */
const MAX_GROWTH = STALLED * 128 * 1024 + 350 * 1024 * 1024;
const CLIENTS = fileURLToPath(new URL('unread-streams.py', import.meta.url));

/** Clients that stop reading, and clients that read slowly, in a process of their own. */
interface UnreadStreams extends AsyncDisposable {
  /** The numbers of streams that the server has closed. */
  closed(): { stalled: number; slow: number };
}

async function openUnreadStreams(port: number, path: string): Promise<UnreadStreams> {
  const child = spawn('python3', [CLIENTS, `${port}`, path, `${STALLED}`, `${SLOW}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let line = '';
  createInterface(child.stdout).on('line', (next) => {
    line = next;
  });
  const exited = once(child, 'exit');
  await until('the streams are open', () => line !== '');
  return {
    closed() {
      const [stalled = 0, slow = 0] = line.split(' ').map(Number);
      return { stalled, slow };
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await exited;
    },
  };
}

describe('2,000 clients that stop reading an event stream', () => {
  it('are disconnected, cost bounded memory, and do not disturb clients that read', async () => {
    await using fleet = await startFleet({ SERVICE_STREAM_STALL_SECONDS: String(STALL_MS / 1_000) });
    const { api, databaseUrl } = fleet;
    const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
    const session = String(body.data.session_id);
    const path = eventsPath(session);
    const edge = shape === 'one process' ? 'all' : 'edge';
    const port = Number(new URL(api.origin).port);

    let received = 0;
    let gap: Error | undefined;
    const healthy = openEvents(port, path, {
      frame({ seq }) {
        if (seq === undefined) return;
        if (seq !== received + 1) gap ??= new Error(`event ${seq} follows event ${received}`);
        received = seq;
      },
      lost: (error) => {
        gap ??= error;
      },
    });
    await until('the first event has arrived', () => received > 0);
    await using unread = await openUnreadStreams(port, path);
    const before = memoryOf(fleet.pidOf(edge));
    let last = 0;
    for (const events of APPENDS) {
      last = await appendEvents(databaseUrl, session, events);
      await until('the reading client has the events', () => gap !== undefined || received === last);
      if (gap) throw gap;
    }
    const closed = await until(
      'all stalled clients are disconnected',
      () => unread.closed().stalled === STALLED && unread.closed(),
    );
    const { peak } = memoryOf(fleet.pidOf(edge));
    console.log(`memory of the ${edge}: ${before.now >> 20} MiB before, at most ${peak >> 20} MiB`);
    expect(peak - before.now).toBeLessThan(MAX_GROWTH);
    expect(closed.slow).toBe(0);
    // Clients that read slowly stay connected for longer than the stall time.
    await new Promise((resolve) => setTimeout(resolve, STALL_MS));
    expect(unread.closed()).toEqual({ stalled: STALLED, slow: 0 });
    expect([received, gap]).toEqual([last, undefined]);
    healthy.close();
  });
});
