import type { JSONObject } from '@ai-sdk/provider';
import type { Breakpoints } from '../models/cache-breakpoints.ts';
import type { Model } from '../models/registry.ts';

interface CacheOptions {
  /** How the request marks what can be cached; undefined for no marks. */
  breakpoints: Breakpoints | undefined;
  /** Provider options that apply unless the agent overrides them. */
  options: JSONObject;
}

/**
 * How a request of a session uses the cache of its provider. The options of the agent win: with a `cacheControl` of its
 * own, the request has no breakpoints of the service, because Anthropic limits their number. A model whose entry says that
 * it does not cache gets none, because Bedrock refuses requests with them.
 */
export function cacheOptions(
  { caching, entry }: Model,
  sessionId: string,
  ofAgent: JSONObject,
): CacheOptions {
  if (caching === 'session_key') return { breakpoints: undefined, options: { promptCacheKey: sessionId } };
  const isOff = Object.hasOwn(ofAgent, 'cacheControl') || entry?.capabilities.caching === false;
  return { breakpoints: isOff ? undefined : caching, options: {} };
}
