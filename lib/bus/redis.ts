import { randomUUID } from 'node:crypto';
import { type Clock, wait } from '../clock.ts';
import type { Bus, Channel } from './bus.ts';
import { openLink, type RedisClient } from './link.ts';
import { createListeners } from './listeners.ts';

export interface RedisBusOptions {
  /** redis:// or rediss:// */
  url: string;
  clock: Clock;
  /** Told once per outage of each of the two connections, and of what listeners throw. */
  onError: (error: unknown) => void;
}

/** A bus channel's Redis channel has this before its name. */
const PREFIX = 'ahs:';
/** Subjects in one message. */
const TOGETHER = 500;
/** Messages that Redis may leave unanswered before hints are dropped. */
const UNANSWERED = 1_000;
/** Clocks of two processes do not tick alike. */
const TICK_MS = 10;
const LAST_WORDS_MS = 200;

/**
 * Hints between processes over Redis Pub/Sub (https://redis.io/docs/latest/develop/pubsub/). Subscribers
 * in this process have heard a hint when `publish` returns; for the others it goes out at the end of this
 * turn of the event loop, each subject once, and it is dropped when Redis is away. A message is a JSON array:
 * who sends it, then the subjects. The bus neither waits for Redis nor fails without it.
 */
export function createRedisBus({ url, clock, onError }: RedisBusOptions): Bus {
  const self = randomUUID();
  const listeners = createListeners(onError);
  const unanswered = new Set<Promise<unknown>>();
  let pending = new Map<Channel, Set<string>>();
  let closed = false;

  const sending = openLink({ url, clock, onError });
  const hearing = openLink({
    url,
    clock,
    onError,
    onReady(client) {
      for (const channel of listeners.channels()) listen(client, channel);
    },
  });

  /** Asking again for a channel that is already heard does nothing. */
  function listen(client: RedisClient, channel: string): void {
    client.subscribe(PREFIX + channel, hear).catch((error: unknown) => {
      // The link tells of an outage; this is Redis refusing.
      if (client.isReady) onError(error);
    });
  }

  function hear(message: string, redisChannel: string): void {
    const members = membersOf(message);
    if (!members) onError(new Error(`a message on ${redisChannel} is not one of this bus`));
    const [sender, ...subjects] = members ?? [self];
    if (sender === self) return;
    for (const subject of subjects) listeners.tell(redisChannel.slice(PREFIX.length), subject);
  }

  function send(): void {
    const going = pending;
    pending = new Map();
    for (const [channel, subjects] of going) {
      for (const together of slices([...subjects])) {
        if (!sending.client.isReady || unanswered.size >= UNANSWERED) return;
        const message = JSON.stringify([self, ...together]);
        const sent: Promise<void> = sending.client
          .publish(PREFIX + channel, message)
          .then(noted, noted)
          .finally(() => unanswered.delete(sent));
        unanswered.add(sent);
      }
    }
  }

  return {
    publish(channel, subject) {
      listeners.tell(channel, subject);
      if (closed) return;
      if (pending.size === 0) setImmediate(send);
      const subjects = pending.get(channel);
      if (subjects) subjects.add(subject);
      else pending.set(channel, new Set([subject]));
    },
    subscribe(channel, listener) {
      const end = listeners.add(channel, listener);
      if (hearing.client.isReady) listen(hearing.client, channel);
      return end;
    },
    // Whether the others are there, and whether they have heard, nobody can know: they get the time they may need.
    settle: (keptForMs) => wait(clock, keptForMs + TICK_MS),
    async check() {
      await Promise.all([sending.check(), hearing.check()]);
    },
    async close() {
      if (closed) return;
      closed = true;
      listeners.clear();
      hearing.close();
      send();
      await Promise.race([Promise.all(unanswered), wait(clock, LAST_WORDS_MS)]);
      sending.close();
    },
  };
}

/** Undefined when it is not a message of this bus. */
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
  for (let start = 0; start < subjects.length; start += TOGETHER) {
    yield subjects.slice(start, start + TOGETHER);
  }
}

/** Sent or lost, a hint needs no further care. */
function noted(): void {}
