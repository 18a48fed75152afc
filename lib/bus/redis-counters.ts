import type { Clock } from '../clock.ts';
import { type Budget, type Counters, intervalOf } from './counters.ts';
import { openLink } from './link.ts';
import { createLocalCounters } from './local-counters.ts';

export interface RedisCountersOptions {
  /** redis:// or rediss:// */
  url: string;
  clock: Clock;
  /** Told once per outage. */
  onError: (error: unknown) => void;
}

/** A counter's Redis key has this before its name. */
const PREFIX = 'ahs:budget:';
/** A request waits no longer than this for its counter. */
const PATIENCE_MS = 100;
/** A Redis that was too slow once is left alone for so long. */
const PAUSE_MS = 1_000;

/**
 * The key holds when its budget is whole again, in microseconds of the clock of Redis: those of the processes may differ. One
 * command, and atomic (https://redis.io/docs/latest/develop/programmability/eval-intro/).
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, span = tonumber(ARGV[1]), tonumber(ARGV[2])
local before = math.min(math.max(tonumber(redis.call('GET', KEYS[1]) or 0) or 0, now), now + span)
local after = before + interval
if after > now + span then return math.ceil((after - now - span) / 1000) end
redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', math.ceil((after - now) / 1000))
return 0
`;

/** Budgets of all processes with this Redis; as long as it is away, each process counts for itself. */
export function createRedisCounters({ url, clock, onError }: RedisCountersOptions): Counters {
  const link = openLink({ url, clock, onError });
  const alone = createLocalCounters(clock);
  let aloneUntil = 0;
  let isTold = false;

  async function ask(key: string, budget: Budget): Promise<number> {
    const span = String(budget.windowMs * 1_000);
    const answer = await link.client.eval(TAKE, {
      keys: [PREFIX + key],
      arguments: [String(intervalOf(budget)), span],
    });
    if (typeof answer !== 'number') throw new Error('a counter in Redis is no number');
    return answer;
  }

  function within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(ms, () =>
        reject(new Error(`a counter in Redis takes longer than ${ms} ms`)),
      );
      work.then(resolve, reject).finally(cancel);
    });
  }

  return {
    async take(key, budget) {
      if (!link.client.isReady || clock.now().getTime() < aloneUntil) return alone.take(key, budget);
      try {
        const wait = await within(PATIENCE_MS, ask(key, budget));
        isTold = false;
        return wait;
      } catch (error) {
        aloneUntil = clock.now().getTime() + PAUSE_MS;
        // The link tells of a Redis that has gone; this is one that stands still, or refuses.
        if (link.client.isReady && !isTold) onError(error);
        isTold = true;
        return alone.take(key, budget);
      }
    },
    async close() {
      link.close();
      await alone.close();
    },
  };
}
