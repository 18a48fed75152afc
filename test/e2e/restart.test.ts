import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDrained, judge } from '../chaos/oracle.ts';
import type { Webhook } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { follow } from '../support/follower.ts';
import { realLane } from '../support/lane.ts';
import { shape } from '../support/shape.ts';
import { type Frame, readStream } from '../support/stream.ts';
import { TARGETS } from '../support/targets.ts';
import { until } from '../support/wait.ts';
import { startWebhookSenders } from '../support/webhook-senders.ts';

/** The processes of the shape, and their database. */
const NAMES = [...(shape === 'one process' ? ['all'] : TARGETS), 'postgres'];
const CASES: [name: string, signal: NodeJS.Signals][] = NAMES.flatMap((name) => [
  [name, 'SIGKILL'],
  [name, 'SIGTERM'],
]);
if (realLane) CASES.push(['redis', 'SIGKILL']);
/** Processes on the path of events to a follower. The end of any other process does not interrupt the stream. */
const STREAM_PATH = ['all', 'edge', 'sessions', 'postgres'];

/** Repeats its input in pieces of five characters, so that a longer message makes a longer turn. */
const ECHO = {
  model: 'rehearsal/script',
  model_options: { steps: [{ text: '{{input}}', chunk_chars: 5, delay_ms: 50 }] },
};
const LONG = 'a long story '.repeat(20);
const SHORT = 'an order';
const SENDERS = { count: 2, pauseMs: 30 };
const LIMIT_MS = 30_000;

const isLast = (frame: Frame | undefined) => frame?.event === 'session.status_idle';
const has = (frames: Frame[], type: string) => frames.some(({ event }) => event === type);

describe(`restart of a process during a turn, ${shape}`, () => {
  let fleet: Fleet;
  let agent: string;
  let webhook: Webhook;
  beforeAll(async () => {
    fleet = await startFleet({ SERVICE_TURN_LEASE_SECONDS: '2' }, { ownPostgres: true });
    agent = await fleet.api.createAgent(ECHO);
    webhook = await fleet.api.createWebhook(agent);
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  async function restartDuringTurn(name: string, signal: NodeJS.Signals): Promise<void> {
    const { api } = fleet;
    const over = new AbortController();
    await using ending = new AsyncDisposableStack();
    ending.defer(() => over.abort());
    const senders = startWebhookSenders(api, webhook, SHORT, SENDERS);
    ending.defer(() => senders.stop());
    // Other processes may still be reconnecting to the one restarted by the previous case.
    const session = await until('a conversation starts', async () => {
      const { status, body } = await api.post(`/agents/${agent}/conversations`, { message: LONG });
      return status === 201 && String(body.data.session_id);
    });
    const stream = `${api.origin}/api/v1/sessions/${session}/events/stream`;
    const follower = follow(stream, isLast, over.signal);
    await until('the agent streams its answer', () => has(follower.events, 'agent.message_delta'));

    const code = await fleet.end(name, signal);
    const hadEnded = has(follower.events, 'turn.completed');
    await fleet.run(name);
    await fleet.ready();
    const before = senders.acknowledged.length;
    await until('webhooks are accepted again', () => senders.acknowledged.length > before + 10, LIMIT_MS);
    await senders.stop();
    await until('the turn has ended', () => isLast(follower.events.at(-1)), LIMIT_MS);
    await until('all turns have ended', () => isDrained(fleet.databaseUrl), LIMIT_MS);

    expect(code).toBe(signal === 'SIGTERM' ? 0 : null);
    // The process must have ended before the turn.
    expect(hadEnded).toBe(false);
    expect(new Set(senders.acknowledged).size).toBe(senders.acknowledged.length);
    const verdict = await judge(fleet.databaseUrl, senders.acknowledged, (input) => input);
    expect(verdict).toMatchObject({ lost: 0, broken: [] });
    expect(follower.events.map(({ id }) => Number(id))).toEqual(follower.events.map((_, i) => i + 1));
    const again = await readStream(stream, (frames) => isLast(frames.at(-1)));
    expect(again.filter(({ id }) => id !== undefined)).toEqual(follower.events);
    if (!STREAM_PATH.includes(name)) expect(follower.joins).toBe(1);
  }

  it.each(CASES)(
    'loses no acknowledged request and ends every turn once after %s receives %s',
    restartDuringTurn,
  );
});
