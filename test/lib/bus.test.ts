import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Bus } from '../../lib/bus/bus.ts';
import { createLocalBus } from '../../lib/bus/local.ts';
import { createRedisBus } from '../../lib/bus/redis.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { testBus } from '../support/bus-conformance.ts';
import { createFakeClock } from '../support/clock.ts';
import { realLane } from '../support/lane.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/wait.ts';

testBus('a bus within one process', (onError) => createLocalBus(onError));
testBus('Redis bus without a reachable Redis', (onError) =>
  createRedisBus({ url: 'redis://127.0.0.1:9', clock: systemClock, onError }),
);

describe('Redis bus without a reachable Redis', () => {
  it('fails its check and reports the outage once for each connection', async () => {
    const errors: unknown[] = [];
    const bus = createRedisBus({
      url: 'redis://127.0.0.1:9',
      clock: systemClock,
      onError: (error) => errors.push(error),
    });
    await until('the outage is reported', () => errors.length >= 2);
    for (let attempt = 0; attempt < 3; attempt++) await expect(bus.check()).rejects.toThrow();
    await bus.close();
    expect(errors).toHaveLength(2);
  });

  it('resolves awaitPropagation after the maximum cache age of subscribers', async () => {
    const clock = createFakeClock();
    const bus = createRedisBus({ url: 'redis://127.0.0.1:9', clock, onError: () => {} });
    let isDone = false;
    const propagation = bus.awaitPropagation(1_000).then(() => {
      isDone = true;
    });
    clock.advance(1_000);
    await Promise.resolve();
    expect(isDone).toBe(false);
    clock.advance(100);
    await propagation;
    const closing = bus.close();
    clock.advance(1_000);
    await closing;
  });
});

if (realLane) {
  describe('Redis buses of several processes', () => {
    const open: Bus[] = [];
    let errors: unknown[] = [];
    let redis: TestRedis;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());
    afterEach(async () => {
      await Promise.all(open.splice(0).map((bus) => bus.close()));
      errors = [];
    });

    testBus('within one of them', (onError) =>
      createRedisBus({ url: redis.url, clock: systemClock, onError }),
    );

    function openBus(clock: Clock = systemClock, url = redis.url): Bus {
      const bus = createRedisBus({ url, clock, onError: (error) => errors.push(error) });
      open.push(bus);
      return bus;
    }

    /** Collects the hints that a bus receives on agents.changed, without the probes of `connected`. */
    function listen(bus: Bus): string[] {
      const received: string[] = [];
      bus.subscribe('agents.changed', (subject) => {
        if (subject !== 'hello?') received.push(subject);
      });
      return received;
    }

    /** Waits until hints of one bus reach the other. */
    async function connected(from: Bus, to: Bus): Promise<void> {
      let reached = false;
      const end = to.subscribe('agents.changed', (subject) => {
        if (subject === 'hello?') reached = true;
      });
      await until('a hint reaches the other bus', () => {
        from.publish('agents.changed', 'hello?');
        return reached;
      });
      end();
    }

    it('delivers hints in both directions', async () => {
      const [one, other] = [openBus(), openBus()];
      const [receivedByOne, receivedByOther] = [listen(one), listen(other)];
      await connected(one, other);
      await connected(other, one);
      one.publish('agents.changed', 'agt_1');
      other.publish('agents.changed', 'agt_2');
      await until(
        'both buses received the hints',
        () => receivedByOne.length === 2 && receivedByOther.length === 2,
      );
      expect(receivedByOne).toEqual(expect.arrayContaining(['agt_1', 'agt_2']));
      expect(receivedByOther).toEqual(expect.arrayContaining(['agt_1', 'agt_2']));
      expect(errors).toEqual([]);
      await one.check();
    });

    it('sends a subject once per turn of the event loop and never back to its publisher', async () => {
      const [one, other] = [openBus(), openBus()];
      const receivedByOther = listen(other);
      await connected(one, other);
      const receivedByOne = listen(one);
      for (let time = 0; time < 100; time++) {
        one.publish('agents.changed', 'agt_1');
        one.publish('agents.changed', 'agt_2');
      }
      await new Promise((resolve) => setImmediate(resolve));
      one.publish('agents.changed', 'agt_1');
      await new Promise((resolve) => setImmediate(resolve));
      one.publish('agents.changed', 'the last');
      await until('the last hint arrives', () => receivedByOther.includes('the last'));
      expect(receivedByOther).toEqual(['agt_1', 'agt_2', 'agt_1', 'the last']);
      expect(receivedByOne).toHaveLength(202);
    });

    it('delivers thousands of hints completely', async () => {
      const [one, other] = [openBus(), openBus()];
      const received = listen(other);
      await connected(one, other);
      const subjects = Array.from({ length: 20_000 }, (_, index) => `agt_${index}`);
      for (const subject of subjects) one.publish('agents.changed', subject);
      await until('all hints arrive', () => received.length === subjects.length);
      expect(received).toEqual(subjects);
    });

    it('reconnects after Redis was killed and restarted', async () => {
      const [one, other] = [openBus(), openBus()];
      const [receivedByOne, receivedByOther] = [listen(one), listen(other)];
      await connected(one, other);
      await redis.kill();
      await until('the outage is noticed', async () =>
        one.check().then(
          () => false,
          () => true,
        ),
      );
      for (let index = 0; index < 10_000; index++) one.publish('agents.changed', `lost_${index}`);
      expect(receivedByOne).toHaveLength(10_000);
      const late: string[] = [];
      other.subscribe('turns.ready', (subject) => late.push(subject));
      await redis.restart();
      await connected(one, other);
      await connected(other, one);
      expect(receivedByOther).toEqual([]);
      await until('a hint of the new subscription arrives', () => {
        one.publish('turns.ready', '');
        return late.length > 0;
      });
      await one.check();
    });

    it('connects when Redis starts after the bus', async () => {
      await redis.kill();
      const [one, other] = [openBus(), openBus()];
      const received = listen(other);
      one.publish('agents.changed', 'lost');
      await redis.restart();
      await connected(one, other);
      expect(received).toEqual([]);
    });

    it('neither waits for a stopped Redis nor queues hints for it', async () => {
      const [one, other] = [openBus(), openBus()];
      await connected(one, other);
      const received = listen(other);
      const goOn = redis.pause();
      try {
        for (let index = 0; index < 10_000; index++) {
          one.publish('agents.changed', `agt_${index}`);
          if (index % 5 === 4) await new Promise((resolve) => setImmediate(resolve));
        }
        await expect(one.check()).rejects.toThrow('does not answer');
      } finally {
        goOn();
      }
      await until('a hint arrives again', () => {
        one.publish('agents.changed', 'the last');
        return received.includes('the last');
      });
      expect(received.indexOf('the last')).toBeLessThanOrEqual(5 * 1_000);
    });

    it('closes while Redis is stopped', async () => {
      const [one, other] = [openBus(), openBus()];
      await connected(one, other);
      const goOn = redis.pause();
      try {
        one.publish('agents.changed', 'agt_1');
        await one.close();
      } finally {
        goOn();
      }
    });

    it('replaces connections that no longer transfer data', async () => {
      await using wire = await openTcpProxy(redis.port);
      const clock = createFakeClock();
      const [one, other] = [openBus(clock, `redis://127.0.0.1:${wire.port}`), openBus()];
      await connected(one, other);
      await connected(other, one);
      wire.stall();
      clock.advance(5_000);
      clock.advance(1_000);
      await connected(one, other);
      await connected(other, one);
      expect(errors.map(String)).toEqual(Array(2).fill('Error: Redis does not answer within 1000 ms'));
    });

    it('ignores messages of other programs on its channels', async () => {
      const [one, other] = [openBus(), openBus()];
      const received = listen(other);
      await connected(one, other);
      const stranger = await createClient({ url: redis.url }).connect();
      for (const message of ['', 'agt_1', '{}', '[1]', 'null'])
        await stranger.publish('ahs:agents.changed', message);
      stranger.destroy();
      one.publish('agents.changed', 'agt_2');
      await until('the hint arrives', () => received.length > 0);
      expect(received).toEqual(['agt_2']);
      expect(errors).not.toEqual([]);
    });
  });
}
