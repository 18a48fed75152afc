import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../chaos/random.ts';
import type { Api } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { shape } from '../support/shape.ts';
import { until } from '../support/wait.ts';

const ROUNDS = 4;
const MESSAGES = 3;
/** A kill follows the first steered message after at most this time, in milliseconds. */
const KILL_WITHIN = 1_500;

const AGENT = {
  model: 'rehearsal/script',
  model_options: {
    steps: Array.from({ length: 4 }, (_, step) => [
      { text: `step ${step} `.repeat(14), chunk_chars: 6, delay_ms: 60 },
      { tool: 'calculator', input: { expression: `${step}+1` } },
    ]).flat(),
  },
  tools: [{ name: 'calculator', permission: 'allow' }],
};

interface JournalEvent {
  seq: number;
  type: string;
  turn_id: string;
  data: { message_seq?: number; turn_id?: string; content?: { text?: string }[] };
}

describe(`kill -9 of the runner while messages steer a turn, with ${shape}`, () => {
  const runner = shape === 'one process' ? 'all' : 'runner';
  let fleet: Fleet;
  let api: Api;
  beforeAll(async () => {
    fleet = await startFleet({ SERVICE_TURN_LEASE_SECONDS: '2' });
    ({ api } = fleet);
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  const eventsOf = (session: string, types: string) =>
    api.list<JournalEvent>(`/sessions/${session}/events?types=${types}&limit=100`);

  it('delivers each message once or gives it a turn of its own', async () => {
    const random = seeded(5);
    const agent = await api.createAgent(AGENT);
    for (let round = 0; round < ROUNDS; round++) {
      const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'begin' });
      const session = String(body.data.session_id);
      await until('the turn runs', async () => (await eventsOf(session, 'agent.message_delta')).length > 0);
      const sent: number[] = [];
      for (let index = 0; index < MESSAGES; index++) {
        const message = { content: `steer ${index}`, busy_policy: 'steer' };
        sent.push(Number((await api.post(`/sessions/${session}/messages`, message)).body.data.seq));
      }
      await new Promise((resolve) => setTimeout(resolve, random() * KILL_WITHIN));
      await fleet.end(runner, 'SIGKILL');
      await fleet.run(runner);
      await fleet.ready();
      await until('the session is idle', async () => {
        const { status } = (await api.get(`/sessions/${session}`)).body.data;
        return status === 'idle';
      });
      const delivered = await eventsOf(session, 'user.message_delivered');
      const started = new Set((await eventsOf(session, 'turn.started')).map(({ turn_id: id }) => id));
      const messages = await eventsOf(session, 'user.message');
      for (const seq of sent) {
        const deliveries = delivered.filter(({ data }) => data.message_seq === seq).length;
        const turn = messages.find((event) => event.seq === seq)?.turn_id ?? '';
        expect(deliveries + (started.has(turn) ? 1 : 0), `message ${seq} of ${session}`).toBe(1);
      }
      const order = delivered.map(({ data }) => data.message_seq);
      expect(order).toEqual(order.toSorted((a = 0, b = 0) => a - b));
      expect(delivered.length, 'a round without a delivery shows nothing').toBeGreaterThan(0);
    }
    expect(await brokenInvariants(fleet.databaseUrl)).toEqual([]);
  }, 300_000);
});
