import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { freePort } from '../support/port.ts';
import { until } from '../support/wait.ts';

const LIMIT = 40;

describe('a request rate limit with two instances of edge and auth', () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  let there: string;

  beforeAll(async () => {
    fleet = stack.use(await startFleet({ SERVICE_RATE_LIMIT_REQUESTS_PER_MINUTE: String(LIMIT) }));
    const http = String(await freePort());
    const [grpc, listen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    fleet.add('another auth', 'auth', { SERVICE_GRPC_LISTEN: grpc });
    fleet.add('another edge', 'edge', {
      SERVICE_PORT: http,
      SERVICE_AUTH_ADDRESS: grpc,
      SERVICE_GRPC_LISTEN: listen,
    });
    await Promise.all([fleet.run('another auth'), fleet.run('another edge')]);
    there = `http://127.0.0.1:${http}`;
    const isReady = async () => (await fetch(`${there}/readyz`).catch(() => undefined))?.ok ?? false;
    await until('the other edge is ready', isReady, 60_000);
  });
  afterAll(() => stack.disposeAsync());

  it('is shared by all instances and refills continuously', async () => {
    const from = performance.now();
    let passed = 0;
    const waits: number[] = [];
    for (let time = 0; time < 2 * LIMIT; time++) {
      const { status, headers } = await fetch(`${time % 2 ? fleet.api.origin : there}/api/v1/agents`);
      if (status === 200) passed++;
      else waits.push(Number(headers.get('retry-after')));
    }
    const minutes = (performance.now() - from) / 60_000;
    // Exactly the requests that were refilled meanwhile.
    expect(passed).toBeGreaterThanOrEqual(LIMIT);
    expect(passed).toBeLessThanOrEqual(LIMIT + Math.ceil(minutes * LIMIT));
    expect(waits.length).toBeGreaterThan(0);
    for (const wait of waits) expect([1, 2]).toContain(wait);
  });
});
