import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFleet } from '../support/fleet.ts';
import { shape } from '../support/shape.ts';
import { countOn, openConnection, rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';

/** The program that runs commands in this shape. */
const RUNNER = shape === 'one process' ? 'all' : 'runner';
/** The programs that take part in saving the changes of a command. */
const COMMITTING = shape === 'one process' ? ['all'] : ['files', 'runner'];

describe(`kill -9 of a runner during a command, ${shape}`, () => {
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

  it('leaves the workspace unchanged by the command, and the session continues', async () => {
    const agent = await fleet.api.createAgent({ model: 'rehearsal/shell' });
    const conversation = await fleet.api.post(`/agents/${agent}/conversations`);
    const session = String(conversation.body.data.session_id);
    await ended(session, await send(session, '$ echo kept > kept.txt'));
    expect(await filesOf(session)).toEqual(['kept.txt']);

    const turn = await send(session, '$ echo half > half.txt; rm kept.txt; sleep 600');
    await until('the command is running', async () => {
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

  it.each(COMMITTING)(
    '%s, while it saves a change of several parts, leaves all of it or nothing',
    async (name) => {
      const agent = await fleet.api.createAgent({ model: 'rehearsal/shell' });
      const begun = await fleet.api.post(`/agents/${agent}/conversations`);
      const session = String(begun.body.data.session_id);
      await ended(session, await send(session, '$ echo kept > kept.txt'));

      await using blocker = await openConnection(fleet.databaseUrl);
      await blocker.query('begin; lock table files.changes in share mode');
      const turn = await send(session, '$ rm kept.txt; for i in $(seq 2500); do echo same > f$i; done');
      const waiting = `select 1 from pg_stat_activity where datname = current_database()
      and application_name = 'ahs-files' and wait_event_type = 'Lock' and query like '%insert into changes%'`;
      await until(
        'the entries of the first part are written',
        async () => (await rowsOn(fleet.databaseUrl, waiting)).length > 0,
        60_000,
      );
      await fleet.end(name, 'SIGKILL');
      await blocker.query('rollback');
      await fleet.run(name);
      await fleet.ready();

      expect(await ended(session, turn)).toMatchObject({ status: 'completed' });
      const { body } = await fleet.api.get(`/sessions/${session}/events?types=agent.tool_result&limit=100`);
      const result = JSON.stringify(body.data.at(-1));
      const counting = `select files as count from files.workspaces where workspace_id = 'wsp_${session.slice(4)}'`;
      const files = await countOn(fleet.databaseUrl, counting);
      // The runner repeats the change when only the files service was killed.
      if (name === 'files') expect([files, result]).toEqual([2_500, expect.not.stringContaining('unknown')]);
      else expect([files, result]).toEqual([1, expect.stringContaining('unknown')]);
    },
  );
});
