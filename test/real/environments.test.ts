import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { freePort } from '../support/port.ts';
import { until } from '../support/wait.ts';

const ROUNDS = 4;

/** A second instance of each service on the path of a session start. The second instances only know each other. */
describe('two instances of agents, each with its own edge, sessions and deployments', () => {
  let fleet: Fleet;
  let first: Api;
  let second: Api;
  beforeAll(async () => {
    fleet = await startFleet();
    first = fleet.api;
    const address = async () => `127.0.0.1:${await freePort()}`;
    const [agents, sessions, deployments] = [await address(), await address(), await address()];
    const others = {
      SERVICE_AGENTS_ADDRESS: agents,
      SERVICE_SESSIONS_ADDRESS: sessions,
      SERVICE_DEPLOYMENTS_ADDRESS: deployments,
    };
    const port = await freePort();
    fleet.add('other agents', 'agents', { ...others, SERVICE_GRPC_LISTEN: agents });
    fleet.add('other sessions', 'sessions', { ...others, SERVICE_GRPC_LISTEN: sessions });
    fleet.add('other deployments', 'deployments', { ...others, SERVICE_GRPC_LISTEN: deployments });
    fleet.add('other edge', 'edge', {
      ...others,
      SERVICE_GRPC_LISTEN: await address(),
      SERVICE_PORT: String(port),
    });
    for (const name of ['agents', 'sessions', 'deployments', 'edge']) await fleet.run(`other ${name}`);
    second = createApi(`http://127.0.0.1:${port}`);
    await until(
      'the second edge is ready',
      async () => (await fetch(`${second.origin}/readyz`).catch(() => undefined))?.ok ?? false,
      60_000,
    );
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  it('refuse new sessions at both instances once one has answered the disabling of an environment', async () => {
    const made = await first.post('/admin/environments', { name: 'shared' });
    const { environment_id } = made.body.data;
    const agent = await first.createAgent({ environment_id });
    const webhook = await first.createWebhook(agent);
    const there = { ...webhook, url: webhook.url.replace(first.origin, second.origin) };
    const turn = async (enabled: boolean) => {
      const { status } = await first.send('PATCH', `/admin/environments/${environment_id}`, { enabled });
      expect(status).toBe(200);
    };
    const starts = async () => {
      const called = await second.trigger(there, 'called');
      const begun = await second.post(`/agents/${agent}/conversations`);
      return [called, begun].map(({ status, body }) => [status, body.code]);
    };
    for (let round = 0; round < ROUNDS; round++) {
      expect(await starts(), `round ${round}`).toEqual([
        [200, 'OK'],
        [201, 'OK'],
      ]);
      await turn(false);
      expect(await starts(), `round ${round}`).toEqual([
        [409, 'DEPLOYMENT_CANNOT_START'],
        [409, 'ENVIRONMENT_DISABLED'],
      ]);
      await turn(true);
    }
  });
});
