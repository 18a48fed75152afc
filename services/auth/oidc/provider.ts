import { createRemoteJWKSet, customFetch as keysFetch, type RemoteJWKSet } from 'jose';
import * as openid from 'openid-client';
import type { Clock } from '../../../lib/clock.ts';
import { isTransportSecure } from '../config.ts';
import { describeFailure, OidcProviderError } from './provider-error.ts';
import { fetchFromProvider } from './provider-fetch.ts';

interface ProviderOptions {
  /** Issuer URL from the settings. */
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
}

/** The discovered metadata of the identity provider. */
export interface DiscoveredProvider {
  client: openid.Configuration;
  /** The issuer as it appears in tokens. */
  issuer: string;
  /** The signing keys. Unknown keys are loaded from the provider. */
  keys: RemoteJWKSet;
}

/** Asymmetric signature algorithms. */
export const SIGNATURE_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
export const CLOCK_TOLERANCE_SECONDS = 30;

const AGE_MS = 60 * 60 * 1_000;
const KEYS_AGE_MS = 10 * 60 * 1_000;
/** The results of checks are used again for this long. */
const CHECK_AGE_MS = { succeeded: 5_000, failed: 1_000 };
/** Minimum time between two loads for tokens with unknown keys. */
const KEYS_COOLDOWN_MS = 2_000;

export type ProviderClient = ReturnType<typeof createProviderClient>;

/**
 * Loads the metadata of the identity provider at the first use and every hour from then on. The service starts without
 * it, and keeps older metadata while the provider cannot be reached.
 */
export function createProviderClient(options: ProviderOptions, clock: Clock) {
  let cached: { discovered: DiscoveredProvider; at: number } | undefined;
  let loading: Promise<DiscoveredProvider> | undefined;

  function load(): Promise<DiscoveredProvider> {
    loading ??= discover(options)
      .then((discovered) => {
        cached = { discovered, at: clock.now().getTime() };
        return discovered;
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  }

  const metadataUrl = metadataUrlOf(options.issuer);
  let checked: { outcome: Promise<void>; until: number } | undefined;

  async function requestMetadata(): Promise<void> {
    const { ok, status } = await fetchFromProvider(metadataUrl, { method: 'GET', headers: {} });
    if (!ok) throw new OidcProviderError(`the identity provider answered with HTTP status ${status}`);
  }

  return {
    /** Whether `get` sends a request to the provider. */
    isLoadDue: () => cached === undefined || clock.now().getTime() - cached.at >= AGE_MS,

    /** Rejects when the provider does not answer. Asks it at most once a second. */
    async check(): Promise<void> {
      const now = () => clock.now().getTime();
      if (!checked || now() >= checked.until) {
        const check = { outcome: requestMetadata(), until: Number.POSITIVE_INFINITY };
        checked = check;
        check.outcome.then(
          () => {
            check.until = now() + CHECK_AGE_MS.succeeded;
          },
          () => {
            check.until = now() + CHECK_AGE_MS.failed;
          },
        );
      }
      await checked.outcome.catch((error: unknown) => {
        throw new Error(`${describeFailure(error)}; existing logins and tokens work`);
      });
    },

    /** The issuer as it appears in tokens, or as configured while the provider cannot be reached. */
    async issuer(): Promise<string> {
      try {
        return (await this.get()).issuer;
      } catch {
        return options.issuer.replace(/\/\.well-known\/.*$/, '');
      }
    },

    /** Throws when the provider cannot be reached or its metadata is invalid. */
    async get(): Promise<DiscoveredProvider> {
      if (!cached) return load();
      if (clock.now().getTime() - cached.at >= AGE_MS) load().catch(() => {});
      return cached.discovered;
    },
  };
}

/** The address of the metadata (https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig). */
function metadataUrlOf(issuer: string): string {
  return issuer.includes('/.well-known/')
    ? issuer
    : `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

async function discover({ issuer, clientId, clientSecret }: ProviderOptions): Promise<DiscoveredProvider> {
  const isPlaintext = new URL(issuer).protocol === 'http:';
  const client = await openid.discovery(
    new URL(issuer),
    clientId,
    { [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    clientSecret === undefined ? openid.None() : withSecret(clientSecret),
    {
      [openid.customFetch]: fetchFromProvider,
      execute: isPlaintext ? [openid.allowInsecureRequests] : [],
    },
  );
  const metadata = client.serverMetadata();
  const { jwks_uri: keysUrl, authorization_endpoint: authorizationUrl } = metadata;
  if (!keysUrl || !isTransportSecure(keysUrl) || !authorizationUrl || !isTransportSecure(authorizationUrl)) {
    throw new OidcProviderError(
      'the metadata of the identity provider has no secure jwks_uri or authorization_endpoint',
    );
  }
  // Throws when the authorization endpoint does not use the scheme of the issuer.
  openid.buildAuthorizationUrl(client, {});
  const keys = createRemoteJWKSet(new URL(keysUrl), {
    [keysFetch]: fetchFromProvider,
    cacheMaxAge: KEYS_AGE_MS,
    cooldownDuration: KEYS_COOLDOWN_MS,
  });
  return { client, issuer: metadata.issuer, keys };
}

/** Uses the authentication method that the provider names, and Basic authentication by default. */
function withSecret(secret: string): openid.ClientAuth {
  const basic = openid.ClientSecretBasic(secret);
  const post = openid.ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const { token_endpoint_auth_methods_supported: known = ['client_secret_basic'] } = server;
    const authenticate = known.includes('client_secret_basic') ? basic : post;
    authenticate(server, client, body, headers);
  };
}
