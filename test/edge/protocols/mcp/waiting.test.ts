import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';
import { until } from '../../../support/wait.ts';
import { call, connectMcp } from './client.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('calls of /mcp that wait', () => {
  let system: System;
  let api: Api;
  let client: Awaited<ReturnType<typeof connectMcp>>;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    client = await connectMcp(`${system.url}/mcp`);
  });
  afterAll(async () => {
    await client.close();
    await system[Symbol.asyncDispose]();
  });

  /** An agent whose answer takes this long. */
  const slowAgent = (milliseconds: number) =>
    api.createAgent({
      model: 'rehearsal/script',
      model_options: {
        steps: [
          { tool: 'current_time', input: {} },
          { text: 'Ready.', chunk_chars: 6, delay_ms: milliseconds },
        ],
      },
      tools: [{ name: 'current_time', permission: 'allow' }],
    });
  const metric = async (name: string) => {
    const text = await (await fetch(`${system.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  };

  it('report progress with steps and tools to a client that asks for it', async () => {
    const agent = await slowAgent(2_500);
    const progress: { progress: number; message?: string }[] = [];
    const result = await client.callTool(
      { name: 'create_conversation', arguments: { agent_id: agent, message: 'go' } },
      { onprogress: (one) => progress.push(one) },
    );
    expect(result.structuredContent).toMatchObject({ status: 'completed', text: 'Ready.' });
    expect(progress.length).toBeGreaterThan(0);
    expect(progress.map((one) => one.progress)).toEqual(progress.map((_, index) => index + 1));
    expect(progress.at(-1)?.message).toMatch(/^Step \d+; last tool: current_time$/);
  });

  it('end when the client disconnects, and the agent goes on', async () => {
    const agent = await slowAgent(1_500);
    const controller = new AbortController();
    const waiting = client.callTool(
      {
        name: 'create_conversation',
        arguments: { agent_id: agent, message: 'go', idempotency_key: 'again' },
      },
      { signal: controller.signal },
    );
    const refused = expect(waiting).rejects.toThrow();
    await until('the call waits', async () => (await metric('ahs_protocol_waits{protocol="mcp"}')) === 1);
    controller.abort();
    await refused;
    await until('no call waits', async () => (await metric('ahs_protocol_waits{protocol="mcp"}')) === 0);
    const args = { agent_id: agent, message: 'go', idempotency_key: 'again' };
    expect(await call(client, 'create_conversation', args)).toMatchObject({
      status: 'completed',
      text: 'Ready.',
    });
    const { body } = await api.get(`/sessions?agent_id=${agent}`);
    expect(body.data).toHaveLength(1);
  });

  it('are counted by the name of the tool, and join the trace of the client', async () => {
    const agent = await api.createAgent();
    const ask = 'ahs_protocol_requests_total{protocol="mcp",operation="send_message",outcome="ok"}';
    const before = await metric(ask.replace(/[{}"]/g, '\\$&'));
    const { session_id } = await call(client, 'create_conversation', { agent_id: agent });
    await client.callTool({
      name: 'send_message',
      arguments: { session_id, message: 'hi' },
      _meta: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` },
    });
    expect(await metric(ask.replace(/[{}"]/g, '\\$&'))).toBe(before + 1);
    const { body } = await api.get(`/sessions/${session_id}/events?types=user.message`);
    expect(body.data).toMatchObject([{ traceparent: expect.stringContaining(TRACE) }]);
  });
});
