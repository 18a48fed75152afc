import { RedisClient as Client } from '@redis/client';
import { backoffDelay, systemRandom } from '../backoff.ts';
import type { Clock } from '../clock.ts';

export type RedisClient = ReturnType<typeof createClient>;

interface RedisConnectionOptions {
  /** redis:// or rediss:// */
  url: string;
  clock: Clock;
  /** Called once per outage, not for every reconnection attempt. */
  onError: (error: unknown) => void;
  /** Called whenever commands can be sent (again). */
  onReady?: (client: RedisClient) => void;
}

/** A connection to Redis that reconnects by itself without a limit. */
interface RedisConnection {
  readonly client: RedisClient;
  /** Rejects when Redis does not answer within a second. */
  check(): Promise<void>;
  close(): void;
}

const CONNECT_MS = 2_000;
const RECONNECT = { firstMs: 50, maxMs: 500 };
const PING_INTERVAL_MS = 5_000;
const PING_TIMEOUT_MS = 1_000;

/** Opens a connection without waiting for Redis to be reachable. Throws a TypeError when the URL is not a Redis URL. */
export function openRedisConnection({
  url,
  clock,
  onError,
  onReady,
}: RedisConnectionOptions): RedisConnection {
  let closed = false;
  let failing = false;
  let client = connect();
  let cancelPing = clock.after(PING_INTERVAL_MS, pingPeriodically);

  function connect(): RedisClient {
    const fresh = createClient(url);
    fresh.on('error', (error: unknown) => {
      if (!closed && !failing) onError(error);
      failing = true;
    });
    fresh.on('connect', () => {
      // A client that is destroyed while it connects does not notice and would stay connected.
      if (closed || fresh !== client) fresh.destroy();
    });
    fresh.on('ready', () => {
      failing = false;
      onReady?.(fresh);
    });
    // The promise settles when the client is destroyed. Until then each failed attempt emits an 'error' event.
    fresh.connect().catch(() => {});
    return fresh;
  }

  /** A network can fail without closing the connection, so a client that does not answer a ping is replaced. */
  function pingPeriodically(): void {
    const pinged = client;
    const answered = pinged.isReady ? ping(pinged) : Promise.resolve();
    answered
      .catch((error: unknown) => {
        if (closed || pinged !== client || !pinged.isReady) return;
        onError(error);
        client = connect();
        pinged.destroy();
      })
      .finally(() => {
        if (!closed) cancelPing = clock.after(PING_INTERVAL_MS, pingPeriodically);
      });
  }

  function ping(target: RedisClient): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(PING_TIMEOUT_MS, () =>
        reject(new Error(`Redis does not answer within ${PING_TIMEOUT_MS} ms`)),
      );
      target
        .sendCommand(['PING'])
        .then(() => resolve(), reject)
        .finally(cancel);
    });
  }

  return {
    get client() {
      return client;
    },
    check: () => ping(client),
    close() {
      closed = true;
      cancelPing();
      client.destroy();
    },
  };
}

/**
 * The client has only `sendCommand` and the methods of Pub/Sub. The library's createClient() would define a method for every
 * command of Redis, twice, which takes 15 MiB and 25 ms.
 */
function createClient(url: string) {
  return new Client({
    url,
    // A command that cannot be sent at once is dropped, because an old hint has no value.
    disableOfflineQueue: true,
    // A timer for each command would cost as much as the command. A client that stops answering is replaced.
    commandOptions: { timeout: 0 },
    maintNotifications: 'disabled',
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: (retries) => backoffDelay(retries + 1, RECONNECT, systemRandom),
    },
  });
}
