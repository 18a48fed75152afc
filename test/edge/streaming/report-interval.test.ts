import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../support/api.ts';
import { readStream } from '../../support/stream.ts';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';

/** The interval of a session without followers. */
const INTERVAL_MS = 10_000;
const DELTA = 'agent.message_delta';
const CHUNK_CHARACTERS = 4;
const CHUNK_MS = 25;
/** Returns the script of a message that takes about `repetitions` times 50 ms. */
const storyOf = (repetitions: number) => ({
  steps: [{ text: 'a story '.repeat(repetitions), chunk_chars: CHUNK_CHARACTERS, delay_ms: CHUNK_MS }],
});
/** A message of about one second, far shorter than the interval. */
const SHORT = storyOf(20);
/** A message that ends long after the tests have seen its first deltas and interrupted it. */
const LONG = storyOf(2_000);

interface Delta {
  data: { delta: string };
}

describe('deltas of a message', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem({ SERVICE_RUNNER_UNFOLLOWED_REPORT_INTERVAL_MS: String(INTERVAL_MS) });
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function begin(script: object, message: object = { message: 'tell' }): Promise<string> {
    const agent = await api.createAgent({ model: 'rehearsal/script', model_options: script });
    const { body } = await api.post(`/agents/${agent}/conversations`, message);
    return String(body.data.session_id);
  }
  async function deltas(session: string): Promise<Delta[]> {
    await until('the turn has ended', async () => {
      return (await api.get(`/sessions/${session}`)).body.data.status === 'idle';
    });
    const { body } = await api.get(`/sessions/${session}/events?types=${DELTA}&limit=100`);
    return body.data as Delta[];
  }
  /** Interrupts the message and checks that a delta has less text than those of a session without followers. */
  async function expectFollowed(session: string): Promise<void> {
    await api.post(`/sessions/${session}/interrupt`);
    const [, second] = await deltas(session);
    expect(second?.data.delta.length).toBeLessThan((0.9 * INTERVAL_MS * CHUNK_CHARACTERS) / CHUNK_MS);
  }

  it('are not written for a message that ends within the interval of a session without followers', async () => {
    expect(await deltas(await begin(SHORT))).toEqual([]);
  });

  it('are sent to an event stream that is opened while the message is written', async () => {
    const session = await begin(LONG);
    await until('the turn runs', async () => {
      return (await api.get(`/sessions/${session}`)).body.data.status === 'running';
    });
    const url = `${system.url}/api/v1/sessions/${session}/events/stream`;
    await readStream(url, (read) => read.filter(({ event }) => event === DELTA).length > 1);
    await expectFollowed(session);
  });

  it('are sent to an AI SDK stream that begins with the message', async () => {
    const session = await begin(LONG, {});
    const response = await fetch(`${system.url}/api/v1/sessions/${session}/ai-stream`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'tell' }] }],
      }),
    });
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (text.split('"type":"text-delta"').length > 2) break;
    }
    await expectFollowed(session);
  });
});
