import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { shape } from '../support/shape.ts';
import { until } from '../support/wait.ts';

const TOOL = {
  type: 'client',
  name: 'get_location',
  description: 'Locates the device.',
  input_schema: { type: 'object' },
};
const CALL = { tool: 'get_location', input: {} };

describe(`client tools with ${shape}`, () => {
  let fleet: Fleet;
  let api: Api;
  beforeAll(async () => {
    fleet = await startFleet({ SERVICE_TURN_LEASE_SECONDS: '2' });
    ({ api } = fleet);
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  async function crashAll(): Promise<void> {
    await Promise.all(fleet.names.map((name) => fleet.end(name, 'SIGKILL')));
    for (const name of fleet.names) await fleet.run(name);
    await fleet.ready();
  }
  const reaches = (session: string, state: string) =>
    until(`the session is ${state}`, async () => {
      const { status, body } = await api.get(`/sessions/${session}`);
      return status === 200 && body.data.state === state;
    });
  const submit = (session: string, id: string, output: unknown) =>
    api.post(`/sessions/${session}/tool-results`, { tool_use_id: id, output });

  it('keep their calls and answers when every process is killed before and between the answers', {
    timeout: 240_000,
  }, async () => {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [CALL, CALL, { text: 'The result: {{last_tool_output}}' }] },
      tools: [TOOL],
    });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'go' });
    const session = String(body.data.session_id);
    await reaches(session, 'needs_input');
    await crashAll();
    await reaches(session, 'needs_input');
    expect((await submit(session, 'call_1_1', 1)).status).toBe(200);
    await crashAll();
    expect((await submit(session, 'call_1_1', 1)).status).toBe(200);
    expect((await submit(session, 'call_1_1', 2)).body.code).toBe('TOOL_RESULT_CONFLICT');
    const { body: pending } = await api.get(`/sessions/${session}/tool-calls?status=pending`);
    expect(pending.data).toMatchObject([{ tool_use_id: 'call_1_2' }]);
    expect((await submit(session, 'call_1_2', 'two')).status).toBe(200);
    await crashAll();
    await reaches(session, 'completed');
    const { body: messages } = await api.get(`/sessions/${session}/messages`);
    expect(messages.data.at(-1)).toMatchObject({ content: [{ text: 'The result: two' }] });
    const { body: events } = await api.get(`/sessions/${session}/events?types=agent.tool_result`);
    expect(events.data).toHaveLength(2);
    expect(await brokenInvariants(fleet.databaseUrl)).toEqual([]);
  });
});
