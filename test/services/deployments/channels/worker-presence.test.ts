import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChannelSystem, openChannelSystem } from './channel-system.ts';

const MINUTE_MS = 60_000;
const ONE = 'wrk_01M7XYC91CC5TE06JQWDWRTJVA';
const OTHER = 'wrk_01M7XYC91CC5TE06JQWDWRTJVB';

describe('ListChannelWorkers RPC', () => {
  let system: ChannelSystem;
  beforeAll(async () => {
    system = await openChannelSystem();
    system.clock.advance(MINUTE_MS);
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    // Workers that other tests have used are noted again.
    system.clock.advance(MINUTE_MS);
    await system.sql('delete from deployments; delete from connections; delete from channel_workers');
  });

  const claim = (workerId: string) =>
    system.worker.claimWork({
      ...{ workerId, connections: 0, conversations: 0, deliveries: 0 },
      ...{ waitMs: 0, leaseSeconds: 30 },
    });
  const renew = (workerId: string) => system.worker.renewLeases({ workerId, leaseSeconds: 30, leases: [] });
  const list = () => system.edge.listChannelWorkers({});

  it('names workers that have asked for work or renewed leases within a minute, the last first', async () => {
    const first = system.clock.now();
    await claim(ONE);
    system.clock.advance(MINUTE_MS / 2);
    const second = system.clock.now();
    await renew(OTHER);
    expect(await list()).toEqual({
      workers: [
        { workerId: OTHER, seenAt: second },
        { workerId: ONE, seenAt: first },
      ],
      isMissing: false,
    });
    system.clock.advance(MINUTE_MS / 2);
    expect((await list()).workers.map(({ workerId }) => workerId)).toEqual([OTHER]);
  });

  it('keeps a worker that calls at least every minute, with few writes', async () => {
    for (let second = 0; second < 120; second += 3) {
      await claim(ONE);
      system.clock.advance(3_000);
    }
    const [worker] = (await list()).workers;
    const age = system.clock.now().getTime() - (worker?.seenAt?.getTime() ?? 0);
    // Not each call is written.
    expect(age).toBeGreaterThanOrEqual(3_000);
    expect(age).toBeLessThanOrEqual(13_000);
  });

  it('reports that workers are missing only while a channel is enabled', async () => {
    expect(await list()).toEqual({ workers: [], isMissing: false });
    const { deploymentId } = await system.create('http');
    expect(await list()).toEqual({ workers: [], isMissing: true });
    await claim(ONE);
    expect((await list()).isMissing).toBe(false);
    system.clock.advance(MINUTE_MS);
    expect((await list()).isMissing).toBe(true);
    await system.disable(deploymentId);
    expect((await list()).isMissing).toBe(false);
  });

  it('forgets workers after a day', async () => {
    await claim(ONE);
    system.clock.advance(24 * 60 * MINUTE_MS + 1);
    await claim(OTHER);
    expect(await system.sql('select worker_id from channel_workers')).toEqual([{ worker_id: OTHER }]);
  });
});

describe('the readiness of the service deployments', () => {
  it('is degraded by missing channel workers, but not in the first minute of the process', async () => {
    await using system = await openChannelSystem();
    await system.create('http');
    const part = system.optionalParts.find(({ name }) => name === 'channel worker');
    if (!part) throw new Error('the service has no such part');
    await part.check();
    system.clock.advance(MINUTE_MS);
    await expect(part.check()).rejects.toMatchObject({
      name: 'DegradedError',
      message: 'no channel worker has asked for work for a minute; channels wait for one',
    });
  });
});
