import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

const AGENT = { name: 'Echo', model: 'rehearsal/echo' };
const DEFAULT = { mcp: 'on', openai: 'on', a2a: 'off' };

describe('exposure of agents over HTTP', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('is returned by POST, GET and PATCH, and has defaults', async () => {
    const made = await api.post('/agents', { ...AGENT, exposure: { a2a: 'on' } });
    expect(made.body.data.exposure).toEqual({ ...DEFAULT, a2a: 'on' });
    const path = `/agents/${made.body.data.agent_id}`;
    const changed = await api.send('PATCH', path, { exposure: { mcp: 'off' } });
    expect(changed.body.data).toMatchObject({
      exposure: { mcp: 'off', openai: 'on', a2a: 'on' },
      version: 1,
      revision: 2,
    });
    expect((await api.get(path)).body.data).toEqual(changed.body.data);
    expect((await api.get(`/agents?q=${made.body.data.agent_id}`)).body.data).toEqual([changed.body.data]);
  });

  it.each([
    ['an unknown state', { mcp: 'public' }, '/exposure/mcp'],
    ['an unknown protocol', { grpc: 'on' }, '/exposure/grpc'],
    ['null', null, '/exposure'],
  ])('refuses %s with its pointer', async (_, exposure, pointer) => {
    const path = `/agents/${await api.createAgent()}`;
    const { status, body } = await api.send('PATCH', path, { exposure });
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { details: [{ pointer }] } } });
    expect((await api.get(path)).body.data).toMatchObject({ exposure: DEFAULT, revision: 1 });
  });
});
