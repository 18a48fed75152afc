import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi, dataOfCreated } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

const SLACK = {
  bot_token: 'xoxb-123456789012-abcdefgh',
  app_token: 'xapp-1-A0123-456-abcdefgh',
};

describe('changes of deployments', () => {
  let system: System;
  let api: Api;
  let deployments: string;
  beforeAll(async () => {
    // Without slots no worker connects with Slack.
    system = await startSystem({ SERVICE_CHANNELS_SLOTS: '0' });
    api = createApi(system.url);
    deployments = `/admin/agents/${await api.createAgent()}/deployments`;
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  async function create(body: object): Promise<string> {
    const created = dataOfCreated(await api.post(deployments, { name: 'First', ...body }));
    return `${deployments}/${created.deployment_id}`;
  }
  const createSlack = () => create({ type: 'channel', provider: 'slack' });
  const createSchedule = () => create({ type: 'schedule', prompt: 'Report.', cron: '0 9 * * *' });

  async function change(path: string, body: object) {
    const { status, body: answer } = await api.send('PATCH', path, body);
    expect([status, answer.message]).toEqual([200, 'success']);
    return answer.data;
  }

  it('change the name, the settings and the credentials of a channel', async () => {
    const path = await createSlack();
    expect(await change(path, { name: 'Second' })).toMatchObject({ name: 'Second', revision: 2 });
    expect(await change(path, { config: { greeting: 'Welcome.' } })).toMatchObject({
      name: 'Second',
      config: { greeting: 'Welcome.', mode: 'socket' },
      revision: 3,
    });
    const changed = await change(path, { credentials: SLACK });
    expect(changed).toMatchObject({ config: { greeting: 'Welcome.' }, revision: 4 });
    expect(JSON.stringify(changed)).not.toContain(SLACK.bot_token);
    expect((await api.get(path)).body.data).toEqual(changed);
  });

  it('change the name of a schedule, whose timing stays', async () => {
    const path = await createSchedule();
    const { next_at, upcoming, cron, prompt } = (await api.get(path)).body.data;
    expect(await change(path, { name: 'Second' })).toMatchObject({
      ...{ name: 'Second', revision: 2 },
      ...{ next_at, upcoming, cron, prompt },
    });
  });

  it('change the kind of the timing and forget the session with null', async () => {
    const path = await createSchedule();
    const changed = { every_seconds: 3_600, cron: null, session_id: null };
    expect(await change(path, changed)).toMatchObject(changed);
  });

  it.each([
    { prompt: 'Report.' },
    { cron: '0 9 * * *' },
    { timezone: 'UTC' },
    { session_id: null },
    { count_failed_turns: false },
  ])('refuse %j in a channel', async (body) => {
    const path = await createSlack();
    const { status, body: answer } = await api.send('PATCH', path, body);
    expect([status, answer.code]).toEqual([400, 'INVALID_REQUEST']);
    expect((await api.get(path)).body.data).toMatchObject({ revision: 1 });
  });

  it.each([{ config: { greeting: 'Welcome.' } }, { credentials: SLACK }])(
    'refuse %j in a schedule',
    async (body) => {
      const path = await createSchedule();
      expect((await api.send('PATCH', path, body)).status).toBe(400);
      expect((await api.get(path)).body.data).toMatchObject({ revision: 1 });
    },
  );
});
