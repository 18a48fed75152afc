import { createRemoteJWKSet, customFetch as keysFetch, type RemoteJWKSet } from 'jose';
import * as openid from 'openid-client';
import type { Clock } from '../../../lib/clock.ts';
import { isSecure } from '../config.ts';
import { ProviderFailure } from './failure.ts';
import { askProvider } from './fetch.ts';

export interface ProviderOptions {
  /** Of the identity provider, as it is set. */
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
}

/** What the identity provider says of itself. */
export interface Discovered {
  /** Speaks to it. */
  client: openid.Configuration;
  /** As it stands in its tokens. */
  issuer: string;
  /** The keys with which it signs. One that nobody knows is looked for there. */
  keys: RemoteJWKSet;
}

/** Signatures whose keys are no secret of ours, nor of anybody who can verify them. */
export const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
export const TOLERANCE_SECONDS = 30;

const AGE_MS = 60 * 60 * 1_000;
const KEYS_AGE_MS = 10 * 60 * 1_000;
/** Whoever shows tokens of unknown keys has the provider asked no more often than this. */
const KEYS_PAUSE_MS = 2_000;

export type Provider = ReturnType<typeof createProvider>;

/**
 * What is known of the identity provider, asked for when it is first needed and every hour from then on. That it
 * cannot be reached is no reason not to start, nor to forget what it has said.
 */
export function createProvider(options: ProviderOptions, clock: Clock) {
  let known: { discovered: Discovered; at: number } | undefined;
  let asking: Promise<Discovered> | undefined;

  function ask(): Promise<Discovered> {
    asking ??= discover(options)
      .then((discovered) => {
        known = { discovered, at: clock.now().getTime() };
        return discovered;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  }

  return {
    /** Throws when it cannot be reached, or says what cannot be. */
    async get(): Promise<Discovered> {
      if (!known) return ask();
      if (clock.now().getTime() - known.at >= AGE_MS) ask().catch(() => {});
      return known.discovered;
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: ProviderOptions): Promise<Discovered> {
  const isPlain = new URL(issuer).protocol === 'http:';
  const client = await openid.discovery(
    new URL(issuer),
    clientId,
    { [openid.clockTolerance]: TOLERANCE_SECONDS },
    clientSecret === undefined ? openid.None() : withSecret(clientSecret),
    {
      [openid.customFetch]: askProvider,
      execute: isPlain ? [openid.allowInsecureRequests] : [],
    },
  );
  const metadata = client.serverMetadata();
  const { jwks_uri: place, authorization_endpoint: start } = metadata;
  if (!place || !isSecure(place) || !start || !isSecure(start)) {
    throw new ProviderFailure('the identity provider does not say where its keys are and where logins begin');
  }
  // Throws where its place cannot be spoken to in the way that the issuer can.
  openid.buildAuthorizationUrl(client, {});
  const keys = createRemoteJWKSet(new URL(place), {
    [keysFetch]: askProvider,
    cacheMaxAge: KEYS_AGE_MS,
    cooldownDuration: KEYS_PAUSE_MS,
  });
  return { client, issuer: metadata.issuer, keys };
}

/** In the way that the provider names, or else in the one that every provider knows. */
function withSecret(secret: string): openid.ClientAuth {
  const basic = openid.ClientSecretBasic(secret);
  const post = openid.ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const { token_endpoint_auth_methods_supported: known = ['client_secret_basic'] } = server;
    const authenticate = known.includes('client_secret_basic') ? basic : post;
    authenticate(server, client, body, headers);
  };
}
