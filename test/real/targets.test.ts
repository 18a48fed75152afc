import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDrained, judge } from '../chaos/oracle.ts';
import type { Api } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { freePort } from '../support/port.ts';
import { countOn } from '../support/sql.ts';
import { readStream } from '../support/stream.ts';
import { SERVICES, TARGETS } from '../support/targets.ts';
import { until } from '../support/wait.ts';
import { startWebhookSenders } from '../support/webhook-senders.ts';

const RUNNERS = `select count(distinct runner_id) from sessions.turns where status = 'in_progress'`;

/** Without files, the edge is degraded. */
const REQUIRED = SERVICES.filter((name) => name !== 'files' && name !== 'vaults');

interface Check {
  name: string;
  status: string;
}

/** Tests of this shape only. The journey and restart tests of test/e2e run in both shapes. */
describe('one process per target', () => {
  let fleet: Fleet;
  let api: Api;
  beforeAll(async () => {
    fleet = await startFleet({ SERVICE_TURN_LEASE_SECONDS: '2' });
    ({ api } = fleet);
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  /** The status of each check of the edge by name; empty while the edge is not ready. */
  async function checksOf(): Promise<Record<string, string>> {
    const response = await fetch(`${api.origin}/readyz?verbose`);
    const { data } = (await response.json()) as { data: { checks?: Check[] } };
    return Object.fromEntries((data.checks ?? []).map(({ name, status }) => [name, status]));
  }

  const streamOf = (session: unknown) => `${api.origin}/api/v1/sessions/${session}/events/stream`;

  /** Triggers a webhook and waits for the end of its turn. */
  async function walk(): Promise<void> {
    const agent = await api.createAgent();
    // Other processes may still be reconnecting to a restarted one.
    await until('the services have found each other', async () => {
      const { status } = await api.get(`/admin/agents/${agent}/deployments`);
      return status === 200;
    });
    const webhook = await api.createWebhook(agent);
    const session = await until('the trigger is accepted', async () => {
      const { status, body } = await api.trigger(webhook, 'across processes');
      return status === 200 && String(body.data.session_id);
    });
    const url = streamOf(session);
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
  }

  /**
   * Checks that followers receive events while the turn runs. A hint that is lost while processes connect delays the first
   * ones by half a second, so the answer takes longer.
   */
  async function streamSlowTurn(): Promise<void> {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: '{{input}}', chunk_chars: 2, delay_ms: 50 }] },
    });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'slowly now '.repeat(8) });
    const url = streamOf(body.data.session_id);
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'agent.message_delta').length).toBeGreaterThan(1);
  }

  it('answers with the known extensions of a session while vaults has ended', async () => {
    const server = { name: 'shared', url: 'https://mcp.example.com/mcp', transport: 'streamable_http' };
    const { body } = await api.post('/admin/mcp-servers', { ...server, authorization: 'shared' });
    const agent = await api.createAgent();
    await api.send('PUT', `/agents/${agent}/extensions`, { mcp_server_ids: [body.data.mcp_server_id] });
    const begun = await api.post(`/agents/${agent}/conversations`, { message: 'Hello' });
    const read = () => api.get(`/sessions/${begun.body.data.session_id}/extensions`);
    const known = { mcp_servers: [{ name: 'shared', state: 'unreviewed' }], skills: [], variables: [] };
    const all = { status: 200, body: { data: { ...known, credentials_available: true } } };
    await until('vaults is found', async () => (await read()).body.data.credentials_available === true);
    expect(await read()).toMatchObject(all);
    await fleet.end('vaults', 'SIGKILL');
    expect(await read()).toMatchObject({
      ...{ status: 200, body: { data: { ...known, credentials_available: false } } },
    });
    await fleet.run('vaults');
    await until('vaults is found', async () => (await read()).body.data.credentials_available === true);
    expect(await read()).toMatchObject(all);
  });

  it('streams events of other processes to followers at once through hints', streamSlowTurn);

  it('lists the services that the edge calls in its readiness report', async () => {
    const names = ['hints', 'agents', 'auth', 'sessions', 'files', 'deployments', 'vaults', 'channel worker'];
    const expected = Object.fromEntries(names.map((name) => [name, 'ok']));
    await expect.poll(checksOf, { timeout: 20_000 }).toEqual(expected);
  });

  it('makes the edge degraded while files is down, and ready again afterwards', async () => {
    await fleet.end('files', 'SIGKILL');
    await until('the edge is degraded', async () => (await checksOf()).files === 'degraded');
    expect((await fetch(`${api.origin}/readyz`)).status).toBe(200);
    await walk();
    await fleet.run('files');
    await fleet.ready();
  });

  it('names the sandbox provider of the runner in the readiness report of the edge', async () => {
    const sandboxes = async (): Promise<string[]> => {
      const { data } = (await (await fetch(`${api.origin}/readyz?verbose`)).json()) as {
        data: { in_force: { role: string; in_force: string }[] };
      };
      return data.in_force.filter(({ role }) => role === 'sandbox').map((fact) => fact.in_force);
    };
    // A runner whose report has failed, because agents was still starting, repeats it after five seconds.
    await until(
      'the runner has reported',
      async () => !/^(no runner|unknown)/.test((await sandboxes()).join()),
    );
    expect(await sandboxes()).toEqual([expect.stringContaining('bubblewrap')]);
  });

  it('names the channel worker in the readiness report of the edge', async () => {
    const facts = await until('the worker has asked for work', async () => {
      const { data } = (await (await fetch(`${api.origin}/readyz?verbose`)).json()) as {
        data: { in_force: { role: string; in_force: string }[] };
      };
      const workers = data.in_force.filter(({ role }) => role === 'channel worker');
      return workers.some((fact) => fact.in_force.startsWith('1 worker')) ? workers : undefined;
    });
    expect(facts).toEqual([
      { role: 'channel worker', in_force: expect.stringMatching(/^1 worker, the last call \d+ s ago$/) },
    ]);
  });

  it.each(REQUIRED)('makes the edge unready while %s is down, and ready again afterwards', async (name) => {
    await fleet.end(name, 'SIGKILL');
    const red = await until('the edge is not ready', async () => {
      const response = await fetch(`${api.origin}/readyz`);
      return response.status === 503 ? ((await response.json()) as { message: string }) : undefined;
    });
    expect(red.message).toContain(`${name}: `);
    const answer = await api.get('/admin/deployments');
    if (answer.status !== 200)
      expect(answer).toMatchObject({ status: 503, body: { error: { retryable: true } } });
    await fleet.run(name);
    await fleet.ready();
    await walk();
  });

  it('continues without hints while Redis is down, and reports it', async () => {
    await fleet.end('redis', 'SIGKILL');
    await until('the edge is degraded', async () => (await checksOf()).hints === 'degraded');
    expect((await fetch(`${api.origin}/readyz`)).status).toBe(200);
    await walk();
    await fleet.run('redis');
    await fleet.ready();
  });

  it('runs two runners, each with its own sessions instance', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    fleet.add('another sessions', 'sessions', { SERVICE_GRPC_LISTEN: address });
    fleet.add('another runner', 'runner', {
      SERVICE_GRPC_LISTEN: `127.0.0.1:${await freePort()}`,
      SERVICE_SESSIONS_ADDRESS: address,
    });
    // Only the additional instances run turns, so events reach the followers through Redis.
    await fleet.end('runner', 'SIGTERM');
    await fleet.run('another sessions');
    await fleet.run('another runner');
    await streamSlowTurn();
    await fleet.run('runner');

    const agent = await api.createAgent({
      model: 'rehearsal/script',
      // Long enough for turns of both runners to overlap.
      model_options: { steps: [{ text: '{{input}}', chunk_chars: 4, delay_ms: 100 }] },
    });
    const senders = startWebhookSenders(api, await api.createWebhook(agent), 'shared work', {
      count: 4,
      // Few enough that the turns end soon after the last request, also on a busy machine.
      pauseMs: 25,
    });
    try {
      await until(
        'both runners have claimed turns',
        async () => (await countOn(fleet.databaseUrl, RUNNERS)) === 2,
      );
      await fleet.end('another runner', 'SIGKILL');
      await fleet.end('another sessions', 'SIGKILL');
      const before = senders.acknowledged.length;
      await until('webhooks are accepted', () => senders.acknowledged.length > before + 10);
    } finally {
      await senders.stop();
    }
    await until('all turns have ended', () => isDrained(fleet.databaseUrl));
    const verdict = await judge(fleet.databaseUrl, senders.acknowledged, (input) => input);
    expect(verdict).toMatchObject({ lost: 0, broken: [] });
  });

  it('refuses a service with another secret', async () => {
    fleet.add('stranger', 'auth', { SERVICE_SECRET: 'not the secret of the other five ones' });
    await fleet.end('auth', 'SIGTERM');
    await fleet.run('stranger');
    const refused = await until('the edge answers', async () => {
      const answer = await api.get('/agents');
      return answer.body.code === 'DEPENDENCY_UNAVAILABLE' ? undefined : answer;
    });
    expect(refused).toMatchObject({
      status: 503,
      body: { code: 'PEER_REJECTED', error: { owner: 'operator' } },
    });
    await fleet.end('stranger', 'SIGTERM');
    await fleet.run('auth');
    await fleet.ready();
  });

  it('stops in any order', async () => {
    const codes = await Promise.all(TARGETS.map((target) => fleet.end(target, 'SIGTERM')));
    expect(codes).toEqual(TARGETS.map(() => 0));
  });
});
