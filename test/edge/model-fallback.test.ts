import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

const OVERLOADED = { error: { kind: 'overloaded' }, times: 100 };
const MODELS = ['rehearsal/script', 'rehearsal/echo'];

describe('the models of an agent', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    // A model has no retries, so that the test does not wait for them.
    system = await startSystem({ SERVICE_TURN_MAX_RETRIES: '0' });
    api = createApi(system.url);
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it('are returned with the first one as the model', async () => {
    const { body } = await api.post('/agents', { name: 'Two', models: MODELS });
    expect(body.data).toMatchObject({ model: 'rehearsal/script', models: MODELS, version: 1 });
    const path = `/agents/${body.data.agent_id}`;
    const changed = await api.send('PATCH', path, { models: null });
    expect(changed.body.data).toMatchObject({
      model: 'rehearsal/script',
      models: ['rehearsal/script'],
      version: 2,
    });
  });

  it('are refused when the model is not the first one', async () => {
    const { status, body } = await api.post('/agents', {
      name: 'Two',
      model: 'rehearsal/echo',
      models: MODELS,
    });
    expect([status, body.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.error).toMatchObject({
      details: [{ pointer: '/model', message: 'must be the first of models' }],
    });
  });

  it('continue a turn one after the other while providers are overloaded', async () => {
    const agentId = await api.createAgent({
      model: 'rehearsal/script',
      models: MODELS,
      model_options: { steps: [OVERLOADED] },
    });
    const { body } = await api.post(`/agents/${agentId}/conversations`, {
      message: 'Still here',
      wait_seconds: 60,
    });
    const events = await api.list<{ type: string; data: Record<string, unknown> }>(
      `/sessions/${body.data.session_id}/events?limit=100`,
    );
    const dataOf = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data);
    expect(dataOf('agent.message')).toMatchObject([
      { model: 'rehearsal/echo', content: [{ type: 'text', text: 'Still here' }] },
    ]);
    expect(dataOf('model.request_finished')).toMatchObject([
      {
        model: 'rehearsal/script',
        is_error: true,
        fallback: { reason: { code: 'model_overloaded' }, to: 'rehearsal/echo', skipped: [] },
      },
      { model: 'rehearsal/echo', is_error: false },
    ]);
    expect(dataOf('turn.completed')).toHaveLength(1);
  });
});
