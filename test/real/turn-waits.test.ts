import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { shape } from '../support/shape.ts';
import { until } from '../support/wait.ts';

/** The processes that answer a waiting request early when they stop. */
const STOPPED = shape === 'one process' ? ['all'] : ['edge', 'sessions'];
const SLOW = {
  model: 'rehearsal/script',
  model_options: { steps: [{ text: 'never', delay_ms: 3_600_000 }] },
};

describe(`wait_seconds with ${shape}`, () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet();
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  it.each(STOPPED)('is answered with the state reached when %s stops', async (name) => {
    const { api } = fleet;
    const agent = await api.createAgent(SLOW);
    const begun = await api.post(`/agents/${agent}/conversations`, { message: 'Hi', wait_seconds: 1 });
    const { session_id: session, turn } = begun.body.data as unknown as {
      session_id: string;
      turn: { turn_id: string };
    };
    await until('the turn runs', async () => {
      return (await api.get(`/sessions/${session}`)).body.data.status === 'running';
    });
    // Waits that are not answered early exceed the time limit of this test.
    const waiting = api.get(`/sessions/${session}/turns/${turn.turn_id}?wait_seconds=60`);
    const beginning = api.post(`/agents/${agent}/conversations`, { message: 'Hi', wait_seconds: 60 });
    await until('the other conversation exists', async () => {
      return (await api.get(`/agents/${agent}/sessions`)).body.data.length === 2;
    });
    expect(await fleet.end(name, 'SIGTERM')).toBe(0);
    const [read, created] = await Promise.all([waiting, beginning]);
    expect(read).toMatchObject({ status: 200, body: { data: { status: 'in_progress', output: null } } });
    expect(created.status).toBe(201);
    const { turn: unfinished } = created.body.data as unknown as { turn: { status: string } | null };
    expect(['queued', 'in_progress', undefined]).toContain(unfinished?.status);
    await fleet.run(name);
    await fleet.ready();
    await api.post(`/sessions/${session}/interrupt`);
    const after = await api.get(`/sessions/${session}/turns/${turn.turn_id}?wait_seconds=60`);
    expect(after.body.data.status).toBe('interrupted');
  });
});
