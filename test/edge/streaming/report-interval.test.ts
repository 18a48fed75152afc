import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../support/api.ts';
import { readStream } from '../../support/stream.ts';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';

/** A message of about one second, far shorter than the interval of a session without followers. */
const STEPS = [{ text: 'a story '.repeat(20), chunk_chars: 4, delay_ms: 25 }];
const DELTA = 'agent.message_delta';

describe('deltas of a message', () => {
  let system: System;
  let api: Api;
  let agent: string;
  beforeAll(async () => {
    system = await startSystem({ SERVICE_RUNNER_UNFOLLOWED_REPORT_INTERVAL_MS: '10000' });
    api = createApi(system.url);
    agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps: STEPS } });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function begin(): Promise<string> {
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'tell' });
    return String(body.data.session_id);
  }
  async function deltas(session: string): Promise<unknown[]> {
    await until('the turn has ended', async () => {
      return (await api.get(`/sessions/${session}`)).body.data.status === 'idle';
    });
    return (await api.get(`/sessions/${session}/events?types=${DELTA}&limit=100`)).body.data;
  }

  it('are not written for a message that ends within the interval of a session without followers', async () => {
    expect(await deltas(await begin())).toEqual([]);
  });

  it('are sent to an event stream that is opened while the message is written', async () => {
    const session = await begin();
    await until('the turn runs', async () => {
      return (await api.get(`/sessions/${session}`)).body.data.status === 'running';
    });
    const url = `${system.url}/api/v1/sessions/${session}/events/stream`;
    const frames = await readStream(url, (read) => read.at(-1)?.event === 'agent.message');
    expect(frames.filter(({ event }) => event === DELTA).length).toBeGreaterThan(1);
  });

  it('are sent to an AI SDK stream that begins with the message', async () => {
    const { body } = await api.post(`/agents/${agent}/conversations`);
    const session = String(body.data.session_id);
    const response = await fetch(`${system.url}/api/v1/sessions/${session}/ai-stream`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'tell' }] }],
      }),
    });
    expect((await response.text()).split('"type":"text-delta"').length).toBeGreaterThan(2);
    expect((await deltas(session)).length).toBeGreaterThan(1);
  });
});
