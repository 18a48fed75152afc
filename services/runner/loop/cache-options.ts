import type { JSONObject } from '@ai-sdk/provider';
import type { Model } from '../models/registry.ts';

interface CacheOptions {
  cacheBreakpoints: boolean;
  /** Provider options that apply unless the agent overrides them. */
  options: JSONObject;
}

/**
 * How a request of a session uses the cache of its provider. The options of the agent win: with a `cacheControl` of its
 * own, the request has no breakpoints of the service, because Anthropic limits their number.
 */
export function cacheOptions({ caching }: Model, sessionId: string, ofAgent: JSONObject): CacheOptions {
  return {
    cacheBreakpoints: caching === 'breakpoints' && !Object.hasOwn(ofAgent, 'cacheControl'),
    options: caching === 'session_key' ? { promptCacheKey: sessionId } : {},
  };
}
