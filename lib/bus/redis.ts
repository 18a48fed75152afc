import { randomUUID } from 'node:crypto';
import { type Clock, wait } from '../clock.ts';
import type { Bus, Channel } from './bus.ts';
import { createListeners } from './listeners.ts';
import { openRedisConnection, type RedisClient } from './redis-connection.ts';

interface RedisBusOptions {
  /** redis:// or rediss:// */
  url: string;
  clock: Clock;
  /** Called once per outage of each of the two connections, and with the errors of listeners. */
  onError: (error: unknown) => void;
}

/** The prefix of the Redis channels. */
const PREFIX = 'ahs:';
/** The most subjects in one message. */
const MAX_SUBJECTS = 500;
/** When Redis has this many unacknowledged messages, further hints are dropped. */
const MAX_UNACKNOWLEDGED = 1_000;
/** Tolerance for the difference between the timers of two processes. */
const TIMER_TOLERANCE_MS = 10;
/** How long `close` waits for Redis to acknowledge the last messages. */
const CLOSE_MS = 200;

/**
 * Hints between processes over Redis Pub/Sub (https://redis.io/docs/latest/develop/pubsub/). `publish` calls the
 * listeners of this process before it returns. Other processes get each subject once, at the end of this turn of the
 * event loop; the hint is dropped when Redis is unavailable. A message is a JSON array: the id of the sender, then the
 * subjects. The bus neither waits for Redis nor fails without it.
 */
export function createRedisBus({ url, clock, onError }: RedisBusOptions): Bus {
  const self = randomUUID();
  const listeners = createListeners(onError);
  const unacknowledged = new Set<Promise<unknown>>();
  let pending = new Map<Channel, Set<string>>();
  let closed = false;

  const publisher = openRedisConnection({ url, clock, onError });
  const subscriber = openRedisConnection({
    url,
    clock,
    onError,
    onReady(client) {
      for (const channel of listeners.channels()) listen(client, channel);
    },
  });

  /** Subscribing again to a channel has no effect. */
  function listen(client: RedisClient, channel: string): void {
    client.subscribe(PREFIX + channel, receive).catch((error: unknown) => {
      // The connection reports outages. This reports a refusal by Redis.
      if (client.isReady) onError(error);
    });
  }

  function receive(message: string, redisChannel: string): void {
    const members = membersOf(message);
    if (!members) onError(new Error(`a message on ${redisChannel} is not one of this bus`));
    const [sender, ...subjects] = members ?? [self];
    if (sender === self) return;
    for (const subject of subjects) listeners.notify(redisChannel.slice(PREFIX.length), subject);
  }

  function send(): void {
    const batches = pending;
    pending = new Map();
    for (const [channel, subjects] of batches) {
      for (const batch of slices([...subjects])) {
        if (!publisher.client.isReady || unacknowledged.size >= MAX_UNACKNOWLEDGED) return;
        const message = JSON.stringify([self, ...batch]);
        const sent: Promise<void> = publisher.client
          .sendCommand(['PUBLISH', PREFIX + channel, message])
          .then(ignore, ignore)
          .finally(() => unacknowledged.delete(sent));
        unacknowledged.add(sent);
      }
    }
  }

  return {
    publish(channel, subject) {
      listeners.notify(channel, subject);
      if (closed) return;
      if (pending.size === 0) setImmediate(send);
      const subjects = pending.get(channel);
      if (subjects) subjects.add(subject);
      else pending.set(channel, new Set([subject]));
    },
    subscribe(channel, listener) {
      const end = listeners.add(channel, listener);
      if (subscriber.client.isReady) listen(subscriber.client, channel);
      return end;
    },
    // Pub/Sub does not confirm delivery, so this waits until the caches of all subscribers have expired.
    awaitPropagation: (maxCacheAgeMs) => wait(clock, maxCacheAgeMs + TIMER_TOLERANCE_MS),
    async check() {
      await Promise.all([publisher.check(), subscriber.check()]);
    },
    async close() {
      if (closed) return;
      closed = true;
      listeners.clear();
      subscriber.close();
      send();
      await Promise.race([Promise.all(unacknowledged), wait(clock, CLOSE_MS)]);
      publisher.close();
    },
  };
}

/** Returns undefined when the text is not a message of this bus. */
function membersOf(message: string): string[] | undefined {
  try {
    const members: unknown = JSON.parse(message);
    if (!Array.isArray(members)) return undefined;
    return members.every((member) => typeof member === 'string') ? members : undefined;
  } catch {
    return undefined;
  }
}

function* slices(subjects: string[]): Generator<string[]> {
  for (let start = 0; start < subjects.length; start += MAX_SUBJECTS) {
    yield subjects.slice(start, start + MAX_SUBJECTS);
  }
}

/** A lost hint needs no handling. */
function ignore(): void {}
