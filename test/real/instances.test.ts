import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendTrigger, type Webhook } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { SERVICES } from '../support/targets.ts';

const SENDERS = 4;

describe('two instances of each service', () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  let agent: string;
  let webhook: Webhook;
  let session: string;

  beforeAll(async () => {
    fleet = stack.use(await startFleet({}, { hasSecondInstances: true }));
    agent = await fleet.api.createAgent();
    webhook = await fleet.api.createWebhook(agent);
    const { body } = await fleet.api.post(`/agents/${agent}/conversations`);
    session = String(body.data.session_id);
  }, 180_000);
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
    await fleet.ready();
    const again = load.sent();
    await expect.poll(load.sent, { timeout: 20_000 }).toBeGreaterThan(again + 50);
    expect(await load.stop()).toEqual([]);
  });
});
