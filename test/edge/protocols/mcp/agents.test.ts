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

  it('reads the only agent of an endpoint once for each request', async () => {
    const agent = await api.createAgent();
    await using client = await connectMcp(`${system.url}/api/v1/mcp/agents/${agent}`);
    const reads = async () => {
      const metrics = await (await fetch(`${system.url}/metrics`)).text();
      const [, count] =
        /^ahs_db_statement_duration_seconds_count\{.*"agents\.by_id"\} (\d+)$/m.exec(metrics) ?? [];
      return Number(count);
    };
    const before = await reads();
    expect(await call(client, 'get_agent', { agent_id: agent })).toMatchObject({
      agent: { agent_id: agent },
    });
    expect((await reads()) - before).toBe(1);
  });

  it('reports a refusal as the result of the tool', async () => {
    await using client = await connectMcp(`${system.url}/mcp`);
    const error = await callRefused(client, 'get_agent', { agent_id: 'agt_unknown' });
    expect(error).toMatchObject({ code: 'AGENT_NOT_FOUND', retryable: false });
    expect(error.request_id).toMatch(/^req_/);
  });
});
