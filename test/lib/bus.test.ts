import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Bus } from '../../lib/bus/bus.ts';
import { createLocalBus } from '../../lib/bus/local.ts';
import { createRedisBus } from '../../lib/bus/redis.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { conforms } from '../support/bus.ts';
import { createFakeClock } from '../support/clock.ts';
import { realLane } from '../support/lane.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { until } from '../support/wait.ts';
import { openWire } from '../support/wire.ts';

conforms('a bus within one process', (onError) => createLocalBus(onError));
conforms('a bus over a Redis that is not there', (onError) =>
  createRedisBus({ url: 'redis://127.0.0.1:9', clock: systemClock, onError }),
);

describe('a bus over a Redis that is not there', () => {
  it('fails its check, and tells of the outage once for each connection', async () => {
    const errors: unknown[] = [];
    const bus = createRedisBus({
      url: 'redis://127.0.0.1:9',
      clock: systemClock,
      onError: (error) => errors.push(error),
    });
    await until('it has noticed', () => errors.length >= 2);
    for (let attempt = 0; attempt < 3; attempt++) await expect(bus.check()).rejects.toThrow();
    await bus.close();
    expect(errors).toHaveLength(2);
  });

  it('settles when its clock has passed the time that others may need', async () => {
    const clock = createFakeClock();
    const bus = createRedisBus({ url: 'redis://127.0.0.1:9', clock, onError: () => {} });
    let settled = false;
    const settling = bus.settle(1_000).then(() => {
      settled = true;
    });
    clock.advance(1_000);
    await Promise.resolve();
    expect(settled).toBe(false);
    clock.advance(100);
    await settling;
    const closing = bus.close();
    clock.advance(1_000);
    await closing;
  });
});

if (realLane) {
  describe('buses of several processes over Redis', () => {
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

    conforms('within one of them', (onError) =>
      createRedisBus({ url: redis.url, clock: systemClock, onError }),
    );

    function openBus(clock: Clock = systemClock, url = redis.url): Bus {
      const bus = createRedisBus({ url, clock, onError: (error) => errors.push(error) });
      open.push(bus);
      return bus;
    }

    /** What a bus hears on agents.changed, without the questions that `connected` asks. */
    function listen(bus: Bus): string[] {
      const heard: string[] = [];
      bus.subscribe('agents.changed', (subject) => {
        if (subject !== 'hello?') heard.push(subject);
      });
      return heard;
    }

    /** Waits until hints go from one bus to the other. */
    async function connected(from: Bus, to: Bus): Promise<void> {
      let reached = false;
      const end = to.subscribe('agents.changed', (subject) => {
        if (subject === 'hello?') reached = true;
      });
      await until('hints go from one bus to the other', () => {
        from.publish('agents.changed', 'hello?');
        return reached;
      });
      end();
    }

    it('carries hints both ways', async () => {
      const [one, other] = [openBus(), openBus()];
      const [heardByOne, heardByOther] = [listen(one), listen(other)];
      await connected(one, other);
      await connected(other, one);
      one.publish('agents.changed', 'agt_1');
      other.publish('agents.changed', 'agt_2');
      await until('both have heard', () => heardByOne.length === 2 && heardByOther.length === 2);
      expect(heardByOne).toEqual(expect.arrayContaining(['agt_1', 'agt_2']));
      expect(heardByOther).toEqual(expect.arrayContaining(['agt_1', 'agt_2']));
      expect(errors).toEqual([]);
      await one.check();
    });

    it('carries a subject once for each turn of the event loop, and back to its publisher never', async () => {
      const [one, other] = [openBus(), openBus()];
      const heardByOther = listen(other);
      await connected(one, other);
      const heardByOne = listen(one);
      for (let time = 0; time < 100; time++) {
        one.publish('agents.changed', 'agt_1');
        one.publish('agents.changed', 'agt_2');
      }
      await new Promise((resolve) => setImmediate(resolve));
      one.publish('agents.changed', 'agt_1');
      await new Promise((resolve) => setImmediate(resolve));
      one.publish('agents.changed', 'the last');
      await until('the last has come', () => heardByOther.includes('the last'));
      expect(heardByOther).toEqual(['agt_1', 'agt_2', 'agt_1', 'the last']);
      expect(heardByOne).toHaveLength(202);
    });

    it('carries a flood whole', async () => {
      const [one, other] = [openBus(), openBus()];
      const heard = listen(other);
      await connected(one, other);
      const subjects = Array.from({ length: 20_000 }, (_, index) => `agt_${index}`);
      for (const subject of subjects) one.publish('agents.changed', subject);
      await until('all have come', () => heard.length === subjects.length);
      expect(heard).toEqual(subjects);
    });

    it('is carried on by itself after Redis was killed and has come back', async () => {
      const [one, other] = [openBus(), openBus()];
      const [heardByOne, heardByOther] = [listen(one), listen(other)];
      await connected(one, other);
      await redis.kill();
      await until('the outage is noticed', async () =>
        one.check().then(
          () => false,
          () => true,
        ),
      );
      for (let index = 0; index < 10_000; index++) one.publish('agents.changed', `lost_${index}`);
      expect(heardByOne).toHaveLength(10_000);
      const late: string[] = [];
      other.subscribe('turns.ready', (subject) => late.push(subject));
      await redis.restart();
      await connected(one, other);
      await connected(other, one);
      expect(heardByOther).toEqual([]);
      await until('what was subscribed to meanwhile is heard, too', () => {
        one.publish('turns.ready', '');
        return late.length > 0;
      });
      await one.check();
    });

    it('may be opened before Redis', async () => {
      await redis.kill();
      const [one, other] = [openBus(), openBus()];
      const heard = listen(other);
      one.publish('agents.changed', 'lost');
      await redis.restart();
      await connected(one, other);
      expect(heard).toEqual([]);
    });

    it('neither waits for a Redis that stands still nor heaps hints up for it', async () => {
      const [one, other] = [openBus(), openBus()];
      await connected(one, other);
      const heard = listen(other);
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
      await until('a hint comes through again', () => {
        one.publish('agents.changed', 'the last');
        return heard.includes('the last');
      });
      expect(heard.indexOf('the last')).toBeLessThanOrEqual(5 * 1_000);
    });

    it('closes while Redis stands still', async () => {
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

    it('replaces connections over which nothing comes any more', async () => {
      await using wire = await openWire(redis.port);
      const clock = createFakeClock();
      const [one, other] = [openBus(clock, `redis://127.0.0.1:${wire.port}`), openBus()];
      await connected(one, other);
      await connected(other, one);
      wire.silence();
      clock.advance(5_000);
      clock.advance(1_000);
      await connected(one, other);
      await connected(other, one);
      expect(errors.map(String)).toEqual(Array(2).fill('Error: Redis does not answer within 1000 ms'));
    });

    it('goes on when somebody else uses its channels', async () => {
      const [one, other] = [openBus(), openBus()];
      const heard = listen(other);
      await connected(one, other);
      const stranger = await createClient({ url: redis.url }).connect();
      for (const message of ['', 'agt_1', '{}', '[1]', 'null'])
        await stranger.publish('ahs:agents.changed', message);
      stranger.destroy();
      one.publish('agents.changed', 'agt_2');
      await until('it has heard', () => heard.length > 0);
      expect(heard).toEqual(['agt_2']);
      expect(errors).not.toEqual([]);
    });
  });
}
