import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort, type Program, runProgram } from '../support/program.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { readStream } from '../support/stream.ts';
import { until } from '../support/wait.ts';

const SERVICES = ['auth', 'agents', 'sessions', 'deployments'] as const;
const TARGETS = [...SERVICES, 'runner', 'edge'] as const;
type TargetName = (typeof TARGETS)[number];

interface Check {
  name: string;
  status: string;
}

describe('six processes', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let api: Api;
  let shared: Record<string, string>;
  const ports = new Map<TargetName, number>();
  const running = new Map<TargetName, Program>();

  function run(target: TargetName): Program {
    const listen = { SERVICE_GRPC_LISTEN: `127.0.0.1:${ports.get(target)}` };
    const program = runProgram({ ...shared, ...listen }, [`--target=${target}`]);
    running.set(target, program);
    return program;
  }

  const ready = async () => (await fetch(`${api.origin}/readyz?verbose`).catch(() => undefined))?.ok;

  async function end(target: TargetName, signal: NodeJS.Signals): Promise<number | null | undefined> {
    running.get(target)?.kill(signal);
    return running.get(target)?.exited;
  }

  /** From the signed request to the agent's answer. */
  async function walk(): Promise<void> {
    const agent = await api.createAgent();
    const webhook = await api.createWebhook(agent);
    const accepted = await api.trigger(webhook, 'across processes');
    expect(accepted.status).toBe(200);
    const session = String(accepted.body.data.session_id);
    const frames = await readStream(
      `${api.origin}/api/v1/sessions/${session}/events/stream`,
      (all) => all.at(-1)?.event === 'session.status_idle',
    );
    const ids = frames.filter(({ id }) => id !== undefined).map(({ id }) => Number(id));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    const { body } = await api.get(`/sessions/${session}/messages`);
    expect(body.data).toMatchObject([
      { role: 'user' },
      { role: 'agent', content: [{ type: 'text', text: 'across processes' }] },
    ]);
  }

  beforeAll(async () => {
    [database, redis] = await Promise.all([createDatabase(), startRedis()]);
    for (const target of TARGETS) ports.set(target, await freePort());
    const port = String(await freePort());
    const origin = `http://127.0.0.1:${port}`;
    const address = (service: TargetName) => [
      `SERVICE_${service.toUpperCase()}_ADDRESS`,
      `127.0.0.1:${ports.get(service)}`,
    ];
    shared = {
      SERVICE_DATABASE_URL: database.url,
      SERVICE_REDIS_URL: redis.url,
      SERVICE_SECRET: 'one service secret for six processes',
      SERVICE_SEALING_KEY: 'a sealing key for the one that seals',
      SERVICE_PUBLIC_URL: origin,
      SERVICE_PORT: port,
      SERVICE_LOG_LEVEL: 'warn',
      SERVICE_TURN_LEASE_SECONDS: '2',
      ...Object.fromEntries(SERVICES.map(address)),
    };
    api = createApi(origin);
    // All at once: they migrate at the same time, and whoever needs another one waits for it.
    for (const target of TARGETS) run(target);
    await until('all are ready', ready, 60_000);
  });

  afterAll(async () => {
    await Promise.all(TARGETS.map((target) => end(target, 'SIGKILL')));
    await redis.stop();
    await database[Symbol.asyncDispose]();
  });

  it('carry a signed webhook to a finished session', walk);

  it('tell followers what other processes do at once, by a hint', async () => {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'slowly now', chunk_chars: 2, delay_ms: 50 }] },
    });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'go' });
    const frames = await readStream(
      `${api.origin}/api/v1/sessions/${body.data.session_id}/events/stream`,
      (all) => all.at(-1)?.event === 'session.status_idle',
    );
    expect(frames.filter(({ event }) => event === 'agent.message_delta').length).toBeGreaterThan(1);
  });

  it('are listed by the edge, as far as it asks them', async () => {
    const { data } = (await (await fetch(`${api.origin}/readyz?verbose`)).json()) as {
      data: { checks: Check[] };
    };
    expect(data.checks.map(({ name, status }) => [name, status])).toEqual(
      ['hints', 'agents', 'auth', 'sessions', 'deployments'].map((name) => [name, 'ok']),
    );
  });

  it.each(SERVICES)(
    'make the edge unready while %s is away, and ready again when it is back',
    async (service) => {
      await end(service, 'SIGKILL');
      const red = await until('the edge has noticed', async () => {
        const response = await fetch(`${api.origin}/readyz`);
        return response.status === 503 ? ((await response.json()) as { message: string }) : undefined;
      });
      expect(red.message).toContain(`${service}: `);
      const answer = await api.get('/admin/deployments');
      if (answer.status !== 200)
        expect(answer).toMatchObject({ status: 503, body: { error: { retryable: true } } });
      run(service);
      await until('all are ready again', ready, 30_000);
      await walk();
    },
  );

  it('finish the turns of a runner that is killed', async () => {
    const text = 'word '.repeat(30);
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text, chunk_chars: 5, delay_ms: 50 }] },
    });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'go' });
    const url = `${api.origin}/api/v1/sessions/${body.data.session_id}/events/stream`;
    await readStream(url, (all) => all.some(({ event }) => event === 'agent.message_delta'));
    await end('runner', 'SIGKILL');
    run('runner');
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
  });

  it('go on without hints while Redis is away, although the edge says that something is', async () => {
    await redis.kill();
    await until('the edge has noticed', async () => (await fetch(`${api.origin}/readyz`)).status === 503);
    await walk();
    await redis.restart();
    await until('all are ready again', ready);
  });

  it('refuse a neighbour with another secret', async () => {
    await end('auth', 'SIGTERM');
    const kept = shared;
    shared = { ...shared, SERVICE_SECRET: 'not the secret of the other five ones' };
    run('auth');
    shared = kept;
    const refused = await until('auth answers', async () => {
      const answer = await api.get('/agents');
      return answer.body.code === 'DEPENDENCY_UNAVAILABLE' ? undefined : answer;
    });
    expect(refused).toMatchObject({
      status: 503,
      body: { code: 'PEER_REJECTED', error: { owner: 'operator' } },
    });
    await end('auth', 'SIGTERM');
    run('auth');
    await until('all are ready again', ready, 30_000);
  });

  it('stop in any order when they are told to', async () => {
    const codes = await Promise.all(TARGETS.map((target) => end(target, 'SIGTERM')));
    expect(codes).toEqual(TARGETS.map(() => 0));
  });
});
