import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, type ApiResponse, createApi, dataOfCreated } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

interface Run {
  run_id: string;
  trigger: string;
  status: string;
  reason: string | null;
  scheduled_for: string | null;
  session_id: string | null;
  turn_id: string | null;
  lateness_ms: number | null;
  usage: { steps: number } | null;
  stop_reason: { type: string } | null;
  replayed_from_run_id: string | null;
  backfill_id: string | null;
}

const BASE = { type: 'schedule', name: 'Report', prompt: 'Report on {{date}}, run {{run_number}}.' };
const DAILY = { ...BASE, cron: '0 9 * * *' };
const SECOND_MS = 1_000;

describe('deployments of type schedule', () => {
  let system: System;
  let api: Api;
  let agent: string;
  let deployments: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    agent = await api.createAgent();
    deployments = `/admin/agents/${agent}/deployments`;
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function createSchedule(members: object): Promise<string> {
    const created = dataOfCreated(await api.post(deployments, members));
    return `${deployments}/${created.deployment_id}`;
  }

  const runsOf = (schedule: string) => api.list<Run>(`${schedule}/runs`);

  async function finished(schedule: string, find: (run: Run) => boolean = () => true): Promise<Run> {
    return until('a run has ended', async () =>
      (await runsOf(schedule)).find((run) => find(run) && run.status === 'succeeded'),
    );
  }

  it('runs once at its time, in a session with the rendered prompt', async () => {
    const at = new Date(Date.now() + SECOND_MS).toISOString();
    const schedule = await createSchedule({ ...BASE, at, metadata: { team: 'support' } });
    const run = await finished(schedule);
    expect(run).toMatchObject({
      trigger: 'scheduled',
      scheduled_for: at,
      reason: null,
      stop_reason: { type: 'end_turn' },
      usage: { steps: 1 },
    });
    expect(run.lateness_ms).toBeGreaterThanOrEqual(0);
    expect((await api.get(`${schedule}/runs/${run.run_id}`)).body.data).toEqual(run);
    const { data: session } = (await api.get(`/sessions/${run.session_id}`)).body;
    expect(session.deployment_id).toBe(schedule.split('/').at(-1));
    expect(String(session.session_id).slice(4)).toBe(run.run_id.slice(4));
    const events = await api.list<{ type: string; actor: object; data: { source: string } }>(
      `/sessions/${run.session_id}/events?types=session.created`,
    );
    expect(events[0]).toMatchObject({ actor: { type: 'schedule' }, data: { source: 'schedule' } });
    const [message] = await api.list<{ content: { text: string }[] }>(`/sessions/${run.session_id}/messages`);
    expect(message?.content[0]?.text).toBe(`Report on ${at.slice(0, 10)}, run 1.`);
    const { data } = (await api.get(schedule)).body;
    expect(data).toMatchObject({ next_at: null, upcoming: [], last_run: { status: 'succeeded' } });
    expect(await runsOf(schedule)).toHaveLength(1);
  });

  it('runs by hand while it is disabled, and replays a run', async () => {
    const schedule = await createSchedule(DAILY);
    expect((await api.post(`${schedule}/disable`)).body.data).toMatchObject({
      status: 'disabled',
      next_at: null,
    });
    const key = { 'Idempotency-Key': 'once' };
    const first = await api.post(`${schedule}/run`, { prompt: 'Now, {{name}}.' }, key);
    const repeated = await api.post(`${schedule}/run`, { prompt: 'Now, {{name}}.' }, key);
    expect([first.status, repeated.status]).toEqual([202, 202]);
    expect(repeated.body.data.run_id).toBe(first.body.data.run_id);
    const run = await finished(schedule);
    expect(run).toMatchObject({ trigger: 'manual', scheduled_for: null, lateness_ms: null });
    const [message] = await api.list<{ content: { text: string }[] }>(`/sessions/${run.session_id}/messages`);
    expect(message?.content[0]?.text).toBe('Now, Report.');
    const replay = await api.post(`${schedule}/runs/${run.run_id}/replay`);
    expect(replay).toMatchObject({ status: 202, body: { data: { replayed_from_run_id: run.run_id } } });
    await finished(schedule, ({ trigger }) => trigger === 'replay');
    expect(await runsOf(schedule)).toHaveLength(2);
    const cancelled = await api.post(`${schedule}/runs/${run.run_id}/cancel`);
    expect(cancelled.body.data.status).toBe('succeeded');
  });

  it('continues one session with `session: continue`', async () => {
    const schedule = await createSchedule({ ...DAILY, session: 'continue' });
    await api.post(`${schedule}/run`);
    const first = await finished(schedule);
    await api.post(`${schedule}/run`);
    const second = await finished(schedule, ({ run_id: id }) => id !== first.run_id);
    expect(second.session_id).toBe(first.session_id);
    expect(second.turn_id).not.toBe(first.turn_id);
    expect((await api.get(schedule)).body.data.session_id).toBe(first.session_id);
  });

  it('cancels a run whose turn is in progress', async () => {
    const steps = [{ text: 'a long story '.repeat(30), chunk_chars: 1, delay_ms: 1_000 }];
    const slow = await api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    const created = dataOfCreated(await api.post(`/admin/agents/${slow}/deployments`, DAILY));
    const schedule = `/admin/agents/${slow}/deployments/${created.deployment_id}`;
    await api.post(`${schedule}/run`);
    const running = await until('the run is in progress', async () =>
      (await runsOf(schedule)).find(({ status }) => status === 'running'),
    );
    await until('a runner has the turn', async () => {
      const { data } = (await api.get(`/sessions/${running.session_id}`)).body;
      return data.status === 'running';
    });
    await api.post(`${schedule}/runs/${running.run_id}/cancel`);
    const ended = await until('the run has ended', async () =>
      (await runsOf(schedule)).find(({ status }) => status !== 'running'),
    );
    expect(ended.status).toBe('interrupted');
  });

  it('cancels a run whose turn waits behind another turn of its session', async () => {
    const steps = [{ text: 'a long story '.repeat(30), chunk_chars: 1, delay_ms: 1_000 }];
    const slow = await api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    const { body } = await api.post(`/agents/${slow}/conversations`, { message: 'Tell me a story.' });
    const session = String(body.data.session_id);
    const members = { ...DAILY, session: 'continue', session_id: session };
    const created = dataOfCreated(await api.post(`/admin/agents/${slow}/deployments`, members));
    const schedule = `/admin/agents/${slow}/deployments/${created.deployment_id}`;
    await api.post(`${schedule}/run`);
    const run = await until('the run has a turn', async () =>
      (await runsOf(schedule)).find(({ status }) => status === 'running'),
    );
    await api.post(`${schedule}/runs/${run.run_id}/cancel`);
    const ended = await until('the run has ended', async () =>
      (await runsOf(schedule)).find(({ status }) => status !== 'running'),
    );
    expect(ended).toMatchObject({ status: 'cancelled', reason: 'turn_cancelled', session_id: session });
    expect((await api.get(`/sessions/${session}`)).body.data).toMatchObject({ queued_turns: 0 });
    await api.post(`/sessions/${session}/interrupt`);
  });

  it('counts a backfill before it queues its runs', async () => {
    const schedule = await createSchedule({
      ...BASE,
      every_seconds: 3_600,
      start_at: '2026-01-01T00:00:00Z',
    });
    const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-01T03:00:00Z' };
    const counted = await api.post(`${schedule}/backfills`, { ...range, dry_run: true });
    expect(counted).toMatchObject({
      status: 200,
      body: {
        data: {
          backfill_id: null,
          count: 3,
          first: '2026-01-01T00:00:00.000Z',
          last: '2026-01-01T02:00:00.000Z',
        },
      },
    });
    expect(await runsOf(schedule)).toHaveLength(0);
    const created = await api.post(`${schedule}/backfills`, range);
    expect(created).toMatchObject({ status: 202, body: { data: { count: 3 } } });
    const backfill = `${schedule}/backfills/${created.body.data.backfill_id}`;
    await until('all runs have ended', async () => (await api.get(backfill)).body.data.finished === 3);
    const made = await runsOf(schedule);
    expect(made.map(({ scheduled_for: at }) => at).toSorted()).toEqual([
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T01:00:00.000Z',
      '2026-01-01T02:00:00.000Z',
    ]);
    const again = await api.post(`${schedule}/backfills`, { ...range, dry_run: true });
    expect(again.body.data.count).toBe(0);
    expect((await api.send('DELETE', backfill)).body.data).toMatchObject({ finished: 3, cancelled: 0 });
  });

  it('previews times with notes on changes of the clock, and creates nothing', async () => {
    const preview = await api.post('/admin/deployments/preview-schedule', {
      cron: '30 2 * * *',
      timezone: 'Europe/Berlin',
      from: '2026-03-28T12:00:00Z',
      count: 2,
    });
    expect(preview.body.data).toEqual([
      {
        scheduled_for: '2026-03-29T01:00:00.000Z',
        due_at: '2026-03-29T01:00:00.000Z',
        local: '2026-03-29T03:00:00',
        utc_offset: '+02:00',
        note: 'shifted',
      },
      {
        scheduled_for: '2026-03-30T00:30:00.000Z',
        due_at: '2026-03-30T00:30:00.000Z',
        local: '2026-03-30T02:30:00',
        utc_offset: '+02:00',
        note: null,
      },
    ]);
    const schedule = await createSchedule({ ...DAILY, timezone: 'Europe/Berlin' });
    const upcoming = await api.list(`${schedule}/upcoming?count=3&from=2026-03-28T12:00:00Z`);
    expect(upcoming).toHaveLength(3);
    expect(upcoming[0]).toMatchObject({
      scheduled_for: '2026-03-29T07:00:00.000Z',
      local: '2026-03-29T09:00:00',
    });
  });

  it('changes with If-Match, and refuses a stale revision', async () => {
    const schedule = await createSchedule(DAILY);
    const before = await api.get(schedule);
    const match = { 'If-Match': String(before.headers.get('etag')) };
    const change = { every_seconds: 600, name: 'Pulse' };
    const changed = await api.send('PATCH', schedule, change, match);
    expect(changed.body.data).toMatchObject({ ...change, cron: null, revision: 2, prompt: BASE.prompt });
    expect((await api.send('PATCH', schedule, change, match)).body.code).toBe('VERSION_CONFLICT');
    expect((await api.send('DELETE', schedule, undefined, match)).body.code).toBe('VERSION_CONFLICT');
    expect((await api.send('PATCH', schedule, { type: 'webhook' })).body.code).toBe('DEPLOYMENT_IMMUTABLE');
    const found = await api.list<{ name: string }>('/admin/deployments?type=schedule&q=puls');
    expect(found.map(({ name }) => name)).toEqual(['Pulse']);
    expect((await api.send('DELETE', schedule)).status).toBe(200);
    expect((await api.get(`${schedule}/runs`)).body.code).toBe('DEPLOYMENT_NOT_FOUND');
  });

  const codeAndPointers = ({ body }: ApiResponse) => {
    const { code, details = [] } = (body.error ?? {}) as { code?: string; details?: { pointer: string }[] };
    return [code, ...details.map(({ pointer }) => pointer)];
  };
  const past = '2020-01-01T00:00:00Z';
  const refusals: [string, object, string[]][] = [
    ['a day that does not exist', { cron: '0 0 30 2 *' }, ['INVALID_SCHEDULE', '/cron']],
    ['four fields', { cron: '0 0 1 *' }, ['INVALID_SCHEDULE', '/cron']],
    ['six fields', { cron: '0 0 0 1 * *' }, ['INVALID_SCHEDULE', '/cron']],
    ['an unknown zone', { cron: '0 9 * * *', timezone: 'Mars/Olympus' }, ['INVALID_SCHEDULE', '/timezone']],
    ['a time in the past', { at: past }, ['INVALID_SCHEDULE', '/at']],
    ['a large jitter', { cron: '* * * * *', jitter_seconds: 31 }, ['INVALID_SCHEDULE', '/jitter_seconds']],
    ['a short interval', { every_seconds: 1 }, ['INVALID_SCHEDULE', '/every_seconds']],
    ['no timing', {}, ['INVALID_SCHEDULE']],
    ['two timings', { cron: '0 9 * * *', every_seconds: 600 }, ['INVALID_SCHEDULE']],
    ['an unknown placeholder', { cron: '0 9 * * *', prompt: 'At {{time}}' }, ['INVALID_SCHEDULE', '/prompt']],
    ['a wrong type', { cron: 7 }, ['INVALID_REQUEST', '/cron']],
    ['an unknown member', { cron: '0 9 * * *', seconds: 1 }, ['INVALID_REQUEST', '/seconds']],
    [
      'an unknown session',
      { cron: '0 9 * * *', session: 'continue', session_id: `ses_${'0'.repeat(26)}` },
      ['SESSION_NOT_FOUND'],
    ],
  ];
  it.each(refusals)('refuses %s and stores nothing', async (_, members, [code, ...pointers]) => {
    const response = await api.post(deployments, { ...BASE, name: 'Refused', ...members });
    expect(codeAndPointers(response).slice(0, 1 + pointers.length)).toEqual([code, ...pointers]);
    expect(await api.list('/admin/deployments?q=Refused')).toEqual([]);
  });

  it('refuses a backfill of more than 1,000 times', async () => {
    const schedule = await createSchedule({ ...BASE, cron: '* * * * *' });
    const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' };
    expect((await api.post(`${schedule}/backfills`, range)).body.code).toBe('BACKFILL_TOO_LARGE');
    await api.send('DELETE', schedule);
  });

  it('refuses the routes of schedules on a webhook, and changes of a webhook', async () => {
    const webhook = await api.createWebhook(agent);
    const path = `${deployments}/${webhook.id}`;
    const codes = await Promise.all([
      api.post(`${path}/run`),
      api.get(`${path}/runs`),
      api.get(`${path}/upcoming`),
      api.get(`${path}/backfills`),
      api.send('PATCH', path, { prompt_prefix: 'Other words:' }),
      api.send('DELETE', path, undefined, { 'If-Match': '"1"' }),
    ]);
    expect(codes.map(({ body }) => body.code)).toEqual([
      ...Array.from({ length: 4 }, () => 'NOT_A_SCHEDULE'),
      'DEPLOYMENT_IMMUTABLE',
      'INVALID_REQUEST',
    ]);
    const shown = (await api.get(path)).body.data;
    expect(Object.keys(shown).toSorted()).toEqual([
      ...['agent_id', 'agent_name', 'authentication_type', 'created_at', 'created_by', 'deployment_id'],
      ...['prompt_prefix', 'status', 'trigger_url', 'type', 'updated_at'],
    ]);
  });
});
