import type { Clock } from '../../../../lib/clock.ts';

interface RateLimit {
  count: number;
  perMs: number;
  /** Whether each channel has a limit of its own. */
  isPerChannel?: boolean;
}

const MINUTE_MS = 60_000;

/**
 * The published limits of an app in one workspace (https://docs.slack.dev/apis/web-api/rate-limits). Slack allows short
 * bursts above some of them; this server does not.
 */
const LIMITS: Readonly<Record<string, RateLimit>> = {
  'chat.postMessage': { count: 1, perMs: 1_000, isPerChannel: true },
  'chat.update': { count: 50, perMs: MINUTE_MS },
  'chat.delete': { count: 50, perMs: MINUTE_MS },
  'conversations.replies': { count: 50, perMs: MINUTE_MS },
  'conversations.info': { count: 50, perMs: MINUTE_MS },
  'users.info': { count: 100, perMs: MINUTE_MS },
  'apps.connections.open': { count: 1, perMs: MINUTE_MS },
};

export interface RateLimits {
  /** Counts a call. Returns undefined, or the seconds until the next call is allowed. */
  take(method: string, channel: string | undefined): number | undefined;
}

export function createRateLimits(clock: Clock): RateLimits {
  const calls = new Map<string, number[]>();
  return {
    take(method, channel) {
      const limit = LIMITS[method];
      if (!limit) return undefined;
      const key = limit.isPerChannel ? `${method} ${channel}` : method;
      const now = clock.now().getTime();
      const recent = (calls.get(key) ?? []).filter((at) => at > now - limit.perMs);
      const [oldest = now] = recent;
      if (recent.length >= limit.count) return Math.ceil((oldest + limit.perMs - now) / 1000);
      calls.set(key, [...recent, now]);
      return undefined;
    },
  };
}
