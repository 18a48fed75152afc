import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { compatible } from '../support/providers/compatible.ts';
import { openStrictProvider, type StrictProvider } from '../support/providers/strict-provider.ts';
import { type System, startSystem } from '../support/system.ts';

describe('the setting context of an agent', () => {
  let system: System;
  let provider: StrictProvider;
  let api: Api;
  beforeAll(async () => {
    provider = await openStrictProvider({ window: 8_000, answer: () => [{ text: 'Noted.' }] });
    system = await startSystem({
      SERVICE_MODEL_ENDPOINTS: `${compatible.name}=${provider.url}/api/v1`,
      SERVICE_MODEL_ENDPOINT_KEYS: `${compatible.name}=${compatible.key}`,
    });
    api = createApi(system.url);
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });

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

  it('leaves pinned messages verbatim in the input of the model when older messages become a summary', async () => {
    const id = await api.createAgent({
      ...{ model: compatible.model, model_options: { max_output_tokens: 1_000 } },
      context: { window: 8_000, keep_turns: 1 },
    });
    const begun = await api.post(`/agents/${id}/conversations`, { message: 'Not pinned: code-magpie.' });
    const path = `/sessions/${begun.body.data.session_id}`;
    const send = (content: string, more: object = {}) =>
      api.post(`${path}/messages`, { content, wait_seconds: 60, ...more });
    const rules = ['Answer in Latin.\n\t"Always"; never code-heron.', 'Sign as é\u{1f985}.'];
    for (const rule of rules) await send(rule, { pinned: true });
    const compacted = () => api.list(`${path}/events?types=agent.context_compacted`);
    for (let turn = 0; turn < 30 && (await compacted()).length < 2; turn++)
      expect((await send(`${turn} ${'lorem ipsum '.repeat(300)}`)).body.data.turn).toMatchObject({
        status: 'completed',
      });
    expect((await compacted()).length).toBeGreaterThanOrEqual(2);
    const contents = provider.requests
      .filter(({ isSummary }) => !isSummary)
      .at(-1)
      ?.messages.map(({ content }) => content);
    expect(contents?.slice(0, 10)).toEqual(expect.arrayContaining(rules));
    expect(JSON.stringify(contents)).not.toContain('Not pinned: code-magpie');
    const { data } = (await api.get(path)).body;
    const fork = await api.post(`${path}/fork`, { after_seq: data.last_seq });
    const ofFork = await api.post(`/sessions/${fork.body.data.session_id}/messages`, {
      ...{ content: 'And in the fork?', wait_seconds: 60 },
    });
    expect(ofFork.body.data.turn).toMatchObject({ status: 'completed' });
    expect(provider.requests.at(-1)?.messages.map(({ content }) => content)).toEqual(
      expect.arrayContaining(rules),
    );
  });
});
