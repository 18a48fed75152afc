import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';
import { call, callRefused, connectMcp } from './client.ts';

describe('/api/v1/mcp', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it.each(['/api/v1/mcp', '/mcp'])('lists agents at %s', async (path) => {
    const agent = await api.createAgent({ name: 'Echo', description: 'Repeats.' });
    await using client = await connectMcp(system.url + path);
    const { agents } = await call<{ agents: { agent_id: string }[] }>(client, 'list_agents');
    expect(agents).toContainEqual(expect.objectContaining({ agent_id: agent, name: 'Echo', enabled: true }));
    const { agent: one } = await call(client, 'get_agent', { agent_id: agent });
    expect(one).toMatchObject({ agent_id: agent, description: 'Repeats.' });
  });

  it('reports a refusal as the result of the tool', async () => {
    await using client = await connectMcp(`${system.url}/mcp`);
    const error = await callRefused(client, 'get_agent', { agent_id: 'agt_unknown' });
    expect(error).toMatchObject({ code: 'AGENT_NOT_FOUND', retryable: false });
    expect(error.request_id).toMatch(/^req_/);
  });
});
