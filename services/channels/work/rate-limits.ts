import type { Clock } from '../../../lib/clock.ts';
import { LruCache } from '../../../lib/lru.ts';
import type { ConversationPlace } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { PostMethod } from '../products/product.ts';
import type { OpenChannel } from './channel-clients.ts';

interface Bucket {
  tokens: number;
  /** Milliseconds since the epoch: when `tokens` was computed. */
  at: number;
  /** The product refuses requests until then. */
  pausedUntil: number;
}

const MAX_BUCKETS = 20_000;

/** Token buckets by deployment, method and place. Requests of all conversations of a place share them. */
export class RateLimits {
  readonly #buckets = new LruCache<string, Bucket>(MAX_BUCKETS);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a token. Returns 0, or without taking one the time in milliseconds until there is one. */
  take(channel: OpenChannel, method: PostMethod, place: ConversationPlace): number {
    const { intervalMs, burst } = channel.product.rules.rateOf(method, place);
    const now = this.#clock.now().getTime();
    const bucket = this.#bucketOf(channel, method, place, burst);
    if (bucket.pausedUntil > now) return bucket.pausedUntil - now;
    if (intervalMs <= 0) return 0;
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / intervalMs);
    bucket.at = now;
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) * intervalMs));
    bucket.tokens--;
    return 0;
  }

  /** The product has refused a request: no request of this kind is sent before `ms` have passed. */
  pause(channel: OpenChannel, method: PostMethod, place: ConversationPlace, ms: number): void {
    const { burst } = channel.product.rules.rateOf(method, place);
    const bucket = this.#bucketOf(channel, method, place, burst);
    bucket.pausedUntil = Math.max(bucket.pausedUntil, this.#clock.now().getTime() + ms);
  }

  #bucketOf(
    { deploymentId }: OpenChannel,
    method: PostMethod,
    { place }: ConversationPlace,
    burst: number,
  ): Bucket {
    const key = `${deploymentId} ${method} ${place}`;
    const known = this.#buckets.get(key);
    if (known) return known;
    const created = { tokens: burst, at: this.#clock.now().getTime(), pausedUntil: 0 };
    this.#buckets.set(key, created);
    return created;
  }
}
