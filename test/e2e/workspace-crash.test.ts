import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFleet } from '../support/fleet.ts';
import { shape } from '../support/shape.ts';
import { until } from '../support/wait.ts';

/** What runs commands: a program of its own, or the one that does everything. */
const RUNNER = shape === 'one process' ? 'all' : 'runner';

describe(`a runner that is killed in the middle of a command, ${shape}`, () => {
  let fleet: Awaited<ReturnType<typeof startFleet>>;
  beforeAll(async () => {
    fleet = await startFleet({ SERVICE_TURN_LEASE_SECONDS: '3' });
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  const filesOf = async (session: string) => {
    const { body } = await fleet.api.get(`/sessions/${session}/files?recursive=true`);
    return (body.data as { path: string }[]).map(({ path }) => path);
  };

  async function send(session: string, content: string): Promise<string> {
    const { body } = await fleet.api.post(`/sessions/${session}/messages`, { content });
    return String(body.data.turn_id);
  }

  const ended = (session: string, turn: string) =>
    until(
      'the turn has ended',
      async () => {
        const { body } = await fleet.api.get(`/sessions/${session}/turns/${turn}`);
        return ['completed', 'failed'].includes(String(body.data.status)) && body.data;
      },
      60_000,
    );

  it('leaves the workspace as it was before the command, and the session goes on', async () => {
    const agent = await fleet.api.createAgent({ model: 'rehearsal/shell' });
    const begun = await fleet.api.post(`/agents/${agent}/conversations`);
    const session = String(begun.body.data.session_id);
    await ended(session, await send(session, '$ echo kept > kept.txt'));
    expect(await filesOf(session)).toEqual(['kept.txt']);

    const turn = await send(session, '$ echo half > half.txt; rm kept.txt; sleep 600');
    await until('the command runs', async () => {
      const { body } = await fleet.api.get(
        `/sessions/${session}/events?types=agent.tool_dispatched&limit=100`,
      );
      return body.data.length === 2;
    });
    await fleet.end(RUNNER, 'SIGKILL');
    await fleet.run(RUNNER);
    await fleet.ready();

    expect(await ended(session, turn)).toMatchObject({ status: 'completed' });
    const { body } = await fleet.api.get(`/sessions/${session}/events?types=agent.tool_result&limit=100`);
    expect(JSON.stringify(body.data.at(-1))).toMatch(/unknown/);
    expect(await filesOf(session)).toEqual(['kept.txt']);

    await ended(session, await send(session, '$ ls; cat kept.txt; echo more > more.txt'));
    expect(await filesOf(session)).toEqual(['kept.txt', 'more.txt']);
    const messages = await fleet.api.get(`/sessions/${session}/messages?limit=100`);
    const answer = JSON.stringify(messages.body.data.at(-1));
    expect(answer).toContain('kept');
    expect(answer).not.toContain('half');
  });
});
