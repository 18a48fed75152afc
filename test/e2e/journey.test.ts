import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { shape } from '../support/shape.ts';
import { type Frame, readStream } from '../support/stream.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

const idle = (frames: Frame[]) => frames.some((frame) => frame.event === 'session.status_idle');

describe(`from a signed webhook to a finished session, ${shape}`, () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it('returns the same events from the stream, the journal and the messages', async () => {
    const agent = await api.createAgent();
    const webhook = await api.createWebhook(agent, { prompt_prefix: 'An order:' });
    const accepted = await api.trigger(webhook, '{"order": 7}');
    expect(accepted).toMatchObject({
      status: 200,
      body: { code: 'OK', message: 'success', data: { deployment_id: webhook.id, status: 'accepted' } },
    });
    const session = String(accepted.body.data.session_id);
    const frames = await readStream(`${system.url}/api/v1/sessions/${session}/events/stream`, idle);
    const events = frames.filter((frame) => frame.id !== undefined);
    expect(events.map((frame) => Number(frame.id))).toEqual(events.map((_, index) => index + 1));
    const journal = await api.get(`/sessions/${session}/events?limit=100`);
    expect(events.map((frame) => JSON.parse(frame.data ?? ''))).toEqual(journal.body.data);
    const { body } = await api.get(`/sessions/${session}/messages`);
    expect(body.data).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'An order:\n\n{"order": 7}' }] },
      { role: 'agent', content: [{ type: 'text', text: 'An order:\n\n{"order": 7}' }] },
    ]);
    const read = await api.get(`/sessions/${session}`);
    expect(read.body.data).toMatchObject({
      status: 'idle',
      stop_reason: { type: 'end_turn' },
      deployment_id: webhook.id,
    });
    const log = await api.get(`/admin/agents/${agent}/deployments/${webhook.id}/invocations`);
    expect(log.body.data).toMatchObject([{ result: 'accepted', session_id: session }]);
  });

  it('resumes a stream after any event without loss or repetition', async () => {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'a long story '.repeat(20), chunk_chars: 5, delay_ms: 20 }] },
    });
    const started = await api.post(`/agents/${agent}/conversations`, { message: 'tell' });
    const url = `${system.url}/api/v1/sessions/${started.body.data.session_id}/events/stream`;
    const allFrames = (await readStream(url, idle)).filter((frame) => frame.id !== undefined);
    expect(allFrames.some((frame) => frame.event === 'agent.message_delta')).toBe(true);
    for (const { id } of allFrames) {
      const rest = await readStream(
        url,
        (frames) => idle(frames) || frames.some((frame) => frame.event === 'stream.caught_up'),
        {
          'Last-Event-ID': String(id),
        },
      );
      expect(rest.filter((frame) => frame.id !== undefined)).toEqual(allFrames.slice(Number(id)));
    }
  });

  it('reports the error code of a turn that fails permanently', async () => {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'half' }, { error: { kind: 'bad_request' } }] },
    });
    const started = await api.post(`/agents/${agent}/conversations`, { message: 'go' });
    const session = String(started.body.data.session_id);
    const ended = await until('the turn has failed', async () => {
      const { body } = await api.get(`/sessions/${session}/turns`);
      const turn = body.data[0] as { status: string } | undefined;
      return turn?.status === 'failed' ? turn : undefined;
    });
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'model_bad_request' } });
  });
});
