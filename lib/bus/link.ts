import { createClient } from 'redis';
import type { Clock } from '../clock.ts';

export type RedisClient = ReturnType<typeof createClient>;

export interface LinkOptions {
  /** redis:// or rediss:// */
  url: string;
  clock: Clock;
  /** Told once per outage, not of every attempt to end it. */
  onError: (error: unknown) => void;
  /** Called whenever commands can be sent (again). */
  onReady?: (client: RedisClient) => void;
}

/** A connection to Redis that is made again by itself, for ever. */
export interface Link {
  readonly client: RedisClient;
  /** Fails when Redis does not answer within a second. */
  check(): Promise<void>;
  close(): void;
}

const CONNECT_MS = 2_000;
const LONGEST_PAUSE_MS = 500;
const BEAT_MS = 5_000;
const ANSWER_MS = 1_000;

/** Opens a link. It does not wait for Redis to be there. Throws a TypeError when the URL is not one of Redis. */
export function openLink({ url, clock, onError, onReady }: LinkOptions): Link {
  let closed = false;
  let failing = false;
  let client = connect();
  let cancelBeat = clock.after(BEAT_MS, beat);

  function connect(): RedisClient {
    const fresh: RedisClient = createClient({
      url,
      // What cannot be sent at once is not sent: a hint of yesterday helps nobody.
      disableOfflineQueue: true,
      maintNotifications: 'disabled',
      socket: {
        connectTimeout: CONNECT_MS,
        reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, LONGEST_PAUSE_MS),
      },
    });
    fresh.on('error', (error: unknown) => {
      if (!closed && !failing) onError(error);
      failing = true;
    });
    fresh.on('connect', () => {
      // A client that is destroyed while it connects does not notice.
      if (closed || fresh !== client) fresh.destroy();
    });
    fresh.on('ready', () => {
      failing = false;
      onReady?.(fresh);
    });
    // It ends when the client is destroyed; until then each attempt that fails is an 'error'.
    fresh.connect().catch(() => {});
    return fresh;
  }

  /** A network can fail without telling either side; what does not answer is then replaced. */
  function beat(): void {
    const beating = client;
    const answered = beating.isReady ? answer(beating) : Promise.resolve();
    answered
      .catch((error: unknown) => {
        if (closed || beating !== client || !beating.isReady) return;
        onError(error);
        client = connect();
        beating.destroy();
      })
      .finally(() => {
        if (!closed) cancelBeat = clock.after(BEAT_MS, beat);
      });
  }

  function answer(asked: RedisClient): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(ANSWER_MS, () =>
        reject(new Error(`Redis does not answer within ${ANSWER_MS} ms`)),
      );
      asked
        .ping()
        .then(() => resolve(), reject)
        .finally(cancel);
    });
  }

  return {
    get client() {
      return client;
    },
    check: () => answer(client),
    close() {
      closed = true;
      cancelBeat();
      client.destroy();
    },
  };
}
