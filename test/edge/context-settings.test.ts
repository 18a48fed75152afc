import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

describe('the setting context of an agent', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const agent = { name: 'Archivist', model: 'rehearsal/echo' };

  it('is stored with a version, shown, and reset by null', async () => {
    const context = {
      ...{ strategy: 'drop_tool_results', threshold: 0.5, keep_turns: 2, model: 'rehearsal/script' },
      ...{ instructions: 'Keep names.', window: 8_000 },
    };
    const created = await api.post('/agents', { ...agent, context });
    expect(created).toMatchObject({ status: 201, body: { data: { context, version: 1 } } });
    const path = `/agents/${created.body.data.agent_id}`;
    expect((await api.get(path)).body.data.context).toEqual(context);
    const changed = await api.send('PATCH', path, { context: null });
    expect(changed).toMatchObject({ status: 200, body: { data: { context: {}, version: 2 } } });
  });

  it.each([
    ['/context/strategy', { strategy: 'forget' }],
    ['/context/threshold', { threshold: 0.05 }],
    ['/context/threshold', { threshold: 0.96 }],
    ['/context/keep_turns', { keep_turns: 0 }],
    ['/context/model', { model: 'unknown/large' }],
    ['/context/window', { window: 10 }],
  ])('is refused with 400 for an invalid value of %s: %o', async (pointer, context) => {
    const { status, body } = await api.post('/agents', { ...agent, context });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: [{ pointer }] } });
  });
});
