import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { countOn, openConnection } from '../support/sql.ts';
import { startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import { expectRefusal, readResponse } from './envelope.ts';

const ATTEMPT_MS = 250;
const pause = async (): Promise<undefined> => {
  await new Promise((resolve) => setTimeout(resolve, ATTEMPT_MS));
  return undefined;
};

describe('a group commit that does not end', () => {
  const opened = new AsyncDisposableStack();
  let databaseUrl: string;
  let api: Api;
  let agent: string;
  beforeAll(async () => {
    const system = opened.use(await startSystem({ SERVICE_RUNNER_SLOTS: '0' }));
    databaseUrl = system.databaseUrl;
    api = createApi(system.url);
    agent = await api.createAgent();
  });
  afterAll(() => opened.disposeAsync());

  const create = () => fetch(`${api.origin}/api/v1/agents/${agent}/conversations`, { method: 'POST' });
  /** The number of writers of the group that wait for a lock. Other test files use the same server. */
  const blocked = () =>
    countOn(
      databaseUrl,
      `select count(*) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into sessions (%'`,
    );

  it('refuses new sessions with 503 and Retry-After, answers reads and probes, and loses no accepted session', async () => {
    await using connection = await openConnection(databaseUrl);
    await connection.query('begin');
    await connection.query('lock table sessions.sessions in share mode');
    // Both writers of the group are busy before the others begin to wait.
    const pending = [create()];
    await until('the first writer is blocked', async () => (await blocked()) === 1);
    pending.push(create());
    await until('the second writer is blocked', async () => (await blocked()) === 2);
    // No session can be created meanwhile, so the first response is a refusal. It can take longer than an attempt.
    const refused = await until('a session is refused', () => {
      pending.push(create());
      return Promise.race([...pending, pause()]);
    });
    const { status, headers, text } = await readResponse(refused);
    expectRefusal({ status, headers, text }, 'DEPENDENCY_UNAVAILABLE');
    const { data } = JSON.parse(text);
    expect(data.retry_after_seconds).toBeGreaterThanOrEqual(1);
    expect(headers.get('retry-after')).toBe(String(data.retry_after_seconds));
    expect((await fetch(`${api.origin}/readyz`)).status).toBe(200);
    expect((await api.get(`/agents/${agent}`)).status).toBe(200);

    await connection.query('commit');
    const responses = await Promise.all(pending);
    const accepted = responses.filter((one) => one.status !== 503);
    expect(accepted.map((one) => one.status)).toEqual(accepted.map(() => 201));
    expect(accepted.length).toBeGreaterThanOrEqual(2);
    expect(await countOn(databaseUrl, 'select count(*) from sessions.sessions')).toBe(accepted.length);
    expect((await create()).status).toBe(201);
  });
});
