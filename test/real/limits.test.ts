import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { freePort } from '../support/port.ts';
import { until } from '../support/wait.ts';

const LIMIT = 40;
/** Fewer than the limit. */
const ATTEMPTS = 20;

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
    await until('the other edge is ready', isReady);
  });
  afterAll(() => stack.disposeAsync());

  it('is shared by all instances, and names the wait until the next request is refilled', async () => {
    const ask = (origin: string) => fetch(`${origin}/api/v1/agents`);
    const refusalOf = (origin: string) =>
      until('a request is refused', async () => {
        const response = await ask(origin);
        return response.status === 429 && response;
      });
    const waits: (string | null)[] = [];
    // On a busy machine a request is refilled between both requests. A limit of the other instance alone would refuse none
    // of these attempts.
    for (let attempt = 0; attempt < ATTEMPTS && waits.length === 0; attempt++) {
      const first = await refusalOf(fleet.api.origin);
      const second = await ask(there);
      if (second.status === 429)
        waits.push(first.headers.get('retry-after'), second.headers.get('retry-after'));
    }
    expect(waits).toEqual([expect.stringMatching(/^[12]$/), expect.stringMatching(/^[12]$/)]);
  });
});
