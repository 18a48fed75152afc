import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDrained } from '../chaos/oracle.ts';
import { sendTrigger, type Webhook } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { freePort } from '../support/port.ts';
import { countOn } from '../support/sql.ts';
import { SERVICES } from '../support/targets.ts';
import { until } from '../support/wait.ts';

const SENDERS = 4;
const INCOMPLETE = `select count(*) from sessions.turns where status <> 'completed'`;

describe('two instances of each service', () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  let agent: string;
  let webhook: Webhook;
  let session: string;

  beforeAll(async () => {
    fleet = stack.use(await startFleet({}, { secondInstances: SERVICES }));
    fleet.add('runner 2', 'runner', { SERVICE_GRPC_LISTEN: `127.0.0.1:${await freePort()}` });
    await fleet.run('runner 2');
    await fleet.listening('runner 2');
    agent = await fleet.api.createAgent();
    webhook = await fleet.api.createWebhook(agent);
    const { body } = await fleet.api.post(`/agents/${agent}/conversations`);
    session = String(body.data.session_id);
  });
  afterAll(() => stack.disposeAsync());

  /** Sends requests that use every service until `stop` is called. Resolves with the statuses other than success. */
  function startLoad() {
    const failures: string[] = [];
    let sent = 0;
    let stopping = false;
    const send = async (name: string, request: () => Promise<{ status: number }>) => {
      const { status } = await request();
      if (status >= 400) failures.push(`${name} ${status}`);
      sent++;
    };
    const senders = Array.from({ length: SENDERS }, async (_, sender) => {
      for (let round = 0; !stopping; round++) {
        await send('trigger', () => sendTrigger(webhook, `${sender}-${round}`));
        await send('agent', () => fleet.api.get(`/agents/${agent}`));
        await send('sessions', () => fleet.api.get('/sessions?limit=5'));
        await send('files', () => fleet.api.get(`/sessions/${session}/files`));
      }
    });
    return {
      sent: () => sent,
      async stop() {
        stopping = true;
        await Promise.all(senders);
        return failures;
      },
    };
  }

  it.each(SERVICES)('of which one of %s stops answer every request', async (service) => {
    const load = startLoad();
    await expect.poll(load.sent, { timeout: 20_000 }).toBeGreaterThan(50);
    const before = load.sent();
    expect(await fleet.end(service, 'SIGTERM')).toBe(0);
    await expect.poll(load.sent, { timeout: 20_000 }).toBeGreaterThan(before + 50);
    await fleet.run(service);
    await fleet.listening(service);
    const again = load.sent();
    await expect.poll(load.sent, { timeout: 20_000 }).toBeGreaterThan(again + 50);
    expect(await load.stop()).toEqual([]);
  });

  it('of which one of every service and a runner stop at once answer every request and end every turn', async () => {
    const load = startLoad();
    await expect.poll(load.sent, { timeout: 20_000 }).toBeGreaterThan(50);
    const before = load.sent();
    const stopping = [...SERVICES, 'runner'];
    const codes = await Promise.all(stopping.map((name) => fleet.end(name, 'SIGTERM')));
    expect(codes).toEqual(stopping.map(() => 0));
    await expect.poll(load.sent, { timeout: 20_000 }).toBeGreaterThan(before + 50);
    expect(await load.stop()).toEqual([]);
    await until('all turns have ended', () => isDrained(fleet.databaseUrl));
    expect(await countOn(fleet.databaseUrl, INCOMPLETE)).toBe(0);
  });
});
