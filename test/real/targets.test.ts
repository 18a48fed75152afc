import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../lib/db/embedded/port.ts';
import { isDrained, judge } from '../chaos/oracle.ts';
import type { Api } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { startSenders } from '../support/senders.ts';
import { countOn } from '../support/sql.ts';
import { readStream } from '../support/stream.ts';
import { SERVICES, TARGETS } from '../support/targets.ts';
import { until } from '../support/wait.ts';

const RUNNERS = `select count(distinct runner_id) from sessions.turns where status = 'in_progress'`;

interface Check {
  name: string;
  status: string;
}

/** What only this shape has to show; the journey and the restarts are those of test/e2e, in both shapes. */
describe('a process per target', () => {
  let fleet: Fleet;
  let api: Api;
  beforeAll(async () => {
    fleet = await startFleet({ SERVICE_TURN_LEASE_SECONDS: '2' });
    ({ api } = fleet);
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  const streamOf = (session: unknown) => `${api.origin}/api/v1/sessions/${session}/events/stream`;

  /** From the signed request to the end of the turn. */
  async function walk(): Promise<void> {
    const agent = await api.createAgent();
    // Who was started again may still be looked for by its neighbours.
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

  /** Tells its followers about a turn while it runs, and not only when it has ended. */
  async function speakSlowly(): Promise<void> {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: '{{input}}', chunk_chars: 2, delay_ms: 50 }] },
    });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'slowly now' });
    const url = streamOf(body.data.session_id);
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'agent.message_delta').length).toBeGreaterThan(1);
  }

  it('tells followers what other processes do at once, by a hint', speakSlowly);

  it('lists the others at the edge, as far as it asks them', async () => {
    const { data } = (await (await fetch(`${api.origin}/readyz?verbose`)).json()) as {
      data: { checks: Check[] };
    };
    expect(data.checks.map(({ name, status }) => [name, status])).toEqual(
      ['hints', 'agents', 'auth', 'sessions', 'files', 'deployments'].map((name) => [name, 'ok']),
    );
  });

  it.each(SERVICES)(
    'makes the edge unready while %s is away, and ready again when it is back',
    async (name) => {
      await fleet.end(name, 'SIGKILL');
      const red = await until('the edge has noticed', async () => {
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
    },
  );

  it('goes on without hints while Redis is away, although the edge says that something is', async () => {
    await fleet.end('redis', 'SIGKILL');
    await until('the edge has noticed', async () => !(await fleet.isReady()));
    await walk();
    await fleet.run('redis');
    await fleet.ready();
  });

  it('runs more of a kind: two runners, each with a sessions service of its own', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    fleet.add('another sessions', 'sessions', { SERVICE_GRPC_LISTEN: address });
    fleet.add('another runner', 'runner', {
      SERVICE_GRPC_LISTEN: `127.0.0.1:${await freePort()}`,
      SERVICE_SESSIONS_ADDRESS: address,
    });
    // Only the others run turns: what they do must come back to the followers by way of Redis.
    await fleet.end('runner', 'SIGTERM');
    await fleet.run('another sessions');
    await fleet.run('another runner');
    await speakSlowly();
    await fleet.run('runner');

    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: '{{input}}', chunk_chars: 4, delay_ms: 25 }] },
    });
    const senders = startSenders(api, await api.createWebhook(agent), 'shared work', {
      count: 4,
      pauseMs: 5,
    });
    try {
      await until('both have work', async () => (await countOn(fleet.databaseUrl, RUNNERS)) === 2);
      await fleet.end('another runner', 'SIGKILL');
      await fleet.end('another sessions', 'SIGKILL');
      const before = senders.acknowledged.length;
      await until('webhooks are accepted', () => senders.acknowledged.length > before + 10);
    } finally {
      await senders.stop();
    }
    await until('nothing is left to do', () => isDrained(fleet.databaseUrl), 30_000);
    const verdict = await judge(fleet.databaseUrl, senders.acknowledged, (input) => input);
    expect(verdict).toMatchObject({ lost: 0, broken: [] });
  });

  it('refuses a neighbour with another secret', async () => {
    fleet.add('stranger', 'auth', { SERVICE_SECRET: 'not the secret of the other five ones' });
    await fleet.end('auth', 'SIGTERM');
    await fleet.run('stranger');
    const refused = await until('it answers', async () => {
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

  it('stops in any order when it is told to', async () => {
    const codes = await Promise.all(TARGETS.map((target) => fleet.end(target, 'SIGTERM')));
    expect(codes).toEqual(TARGETS.map(() => 0));
  });
});
