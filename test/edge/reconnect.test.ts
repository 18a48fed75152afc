import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../lib/event-types.ts';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/wait.ts';

/** A standard EventSource and the events it received. */
interface Follower extends AsyncDisposable {
  wire: TcpProxy;
  /** Seq and data of each event. */
  received: { id: string; data: string }[];
  opened: number;
  ended: boolean;
}

describe('standard EventSource clients with repeated connection failures', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  /** Each client has its own proxy, so that its connection can be closed separately. */
  async function follow(session: string, isLast: (event: MessageEvent) => boolean): Promise<Follower> {
    const wire = await openTcpProxy(Number(new URL(system.url).port));
    const source = new EventSource(`http://127.0.0.1:${wire.port}/api/v1/sessions/${session}/events/stream`);
    const follower: Follower = {
      wire,
      received: [],
      opened: 0,
      ended: false,
      async [Symbol.asyncDispose]() {
        source.close();
        await wire[Symbol.asyncDispose]();
      },
    };
    source.addEventListener('open', () => follower.opened++);
    for (const type of EVENT_TYPES) {
      source.addEventListener(type, (event) => {
        follower.received.push({ id: event.lastEventId, data: event.data });
        follower.ended ||= isLast(event);
      });
    }
    return follower;
  }

  it('receive each event once, in the same bytes as the list', async () => {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: {
        steps: [
          { thinking: 'Hm.' },
          { text: 'half a story \ud83d\udc4b '.repeat(30), chunk_chars: 3, delay_ms: 20 },
          { tool: 'calculator', input: { expression: '6 * 7' } },
          { error: { kind: 'cut_stream' }, times: 1 },
          { text: 'the other half \u2028 '.repeat(30), chunk_chars: 3, delay_ms: 20 },
        ],
      },
    });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'tell\nme\r\n' });
    const session = String(body.data.session_id);
    const isLast = ({ type }: MessageEvent) => type === 'session.status_idle';
    const followers = await Promise.all(Array.from({ length: 4 }, () => follow(session, isLast)));
    await using stack = new AsyncDisposableStack();
    for (const follower of followers) stack.use(follower);
    for (const [i, follower] of followers.entries()) {
      let lastCount = 0;
      const cutting = setInterval(() => {
        if (follower.ended) clearInterval(cutting);
        // Each connection is closed after a different number of events.
        if (follower.received.length < lastCount + 3 + i * 2) return;
        lastCount = follower.received.length;
        follower.wire.cut();
      }, 5);
      stack.defer(() => clearInterval(cutting));
    }
    await until(
      'all followers have received the answer',
      () => followers.every(({ ended }) => ended),
      45_000,
    );
    const listed = await (await fetch(`${system.url}/api/v1/sessions/${session}/export`)).text();
    const lines = listed.trimEnd().split('\n');
    for (const { received, opened } of followers) {
      expect(opened).toBeGreaterThan(2);
      expect(received.map(({ data }) => data)).toEqual(lines);
      expect(received.map(({ id }) => id)).toEqual(lines.map((_, i) => String(i + 1)));
    }
  });
});
