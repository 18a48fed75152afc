import type { RemoteJWKSet } from 'jose';
import * as openid from 'openid-client';
import { Refusal } from '../../../lib/errors.ts';
import type { DiscoveredProvider, ProviderClient } from './provider.ts';
import type { ProviderQueryLimiter } from './query-limiter.ts';

/** Stands for the address of a token that the service has verified before. */
export const UNLIMITED = Symbol('unlimited');

/** The IP address of the client for whose token the provider is queried. */
export type QuerySource = string | typeof UNLIMITED;

/** A rejection for lack of a query. The same token may be accepted later. */
export class UndecidedRejection extends Refusal {
  constructor(message: string) {
    super('UNAUTHENTICATED', message);
  }
}

export type LimitedProvider = ReturnType<typeof createLimitedProvider>;

/**
 * Queries the identity provider for access tokens, within the limit of each source. Every method fails with
 * UndecidedRejection when the limit is reached. Concurrent tokens of one source share the load of metadata and keys.
 */
export function createLimitedProvider(provider: ProviderClient, limiter: ProviderQueryLimiter) {
  const loads = new Map<QuerySource, Promise<DiscoveredProvider>>();
  const reloads = new Map<QuerySource, Promise<void>>();

  async function requireQuery(source: QuerySource): Promise<void> {
    if (source === UNLIMITED || (await limiter.allows(source))) return;
    throw new UndecidedRejection(
      'The access token is unknown, and its sender has reached the limit of unknown tokens. Try again in a minute.',
    );
  }

  async function loadMetadata(source: QuerySource): Promise<DiscoveredProvider> {
    if (provider.isLoadDue()) await requireQuery(source);
    return provider.get();
  }

  async function loadKeys(source: QuerySource): Promise<DiscoveredProvider> {
    const discovered = await loadMetadata(source);
    if (discovered.keys.fresh) return discovered;
    await requireQuery(source);
    await discovered.keys.reload();
    return discovered;
  }

  async function reloadKeys(keys: RemoteJWKSet, source: QuerySource): Promise<void> {
    if (keys.coolingDown) throw new UndecidedRejection('The key of the access token is unknown.');
    await requireQuery(source);
    await keys.reload();
  }

  return {
    /** Returns the provider with its current keys. */
    withKeys: (source: QuerySource) => shared(loads, source, () => loadKeys(source)),

    /** Loads the keys again for a token with an unknown key, at most every two seconds. */
    reloadKeys: (keys: RemoteJWKSet, source: QuerySource) =>
      shared(reloads, source, () => reloadKeys(keys, source)),

    async introspect(token: string, source: QuerySource) {
      const { client, issuer } = await loadMetadata(source);
      await requireQuery(source);
      const response = await openid.tokenIntrospection(client, token, { token_type_hint: 'access_token' });
      return { response, issuer };
    },
  };
}

/** Returns the result of the running work of a source, or starts the work. */
function shared<Result>(
  running: Map<QuerySource, Promise<Result>>,
  source: QuerySource,
  work: () => Promise<Result>,
): Promise<Result> {
  let result = running.get(source);
  if (!result) {
    result = work().finally(() => running.delete(source));
    running.set(source, result);
  }
  return result;
}
