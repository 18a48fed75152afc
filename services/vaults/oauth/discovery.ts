import type { AuthorizationServer } from 'oauth4webapi';
import type { Clock } from '../../../lib/clock.ts';
import type { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { scopesIn } from '../domain/oauth.ts';
import {
  challengedMetadata,
  challengeMember,
  type ResourceMetadata,
  readResourceMetadata,
  wellKnownMetadata,
} from './resource-metadata.ts';

/** The authorization server of an MCP server, and what tokens for the MCP server name. */
export interface FoundAuthorization {
  /** RFC 8707: the URL of the server, or one above it. */
  resource: string;
  /** Those of the server's challenge, else those that its metadata names. */
  scopes: string[];
  /** Its `issuer` is the URL under which it was found. */
  server: AuthorizationServer;
}

/** How a user can authorize this service at an MCP server. */
export interface Authorization {
  /** The issuer as its own metadata names it. */
  issuer: string;
  scopesSupported: string[];
  registration: Registration;
}

/** How a client can register: with a client id metadata document, dynamically, or not at all. */
type Registration = 'document' | 'dynamic' | 'none';

interface DiscoveryOptions {
  /** The authorization server that counts. Default: the first one. */
  issuer?: string;
  signal?: AbortSignal;
}

/** Returns undefined for a server without valid metadata. Rejects with the reason of the signal only. */
export type DiscoverAuthorization = (
  url: string,
  options?: DiscoveryOptions,
) => Promise<FoundAuthorization | undefined>;

/** Limit of the whole discovery, and of each of its requests. */
const DISCOVERY_MS = 15_000;
const LIMITS = { responseBytes: 256 * 1024, silenceMs: 5_000, totalMs: 5_000 };

/** A request of the protocol, because some servers demand a credential for such requests only. */
const REQUEST = {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
};

type Fetch = typeof globalThis.fetch;

/**
 * Returns a function that finds the authorization server of an MCP server: from the challenge of its 401 response or its
 * well-known addresses to the metadata of the resource (RFC 9728), and from there to the metadata of the issuer (RFC 8414 or
 * OpenID Connect Discovery). The issuer must name itself as it was named, and must support PKCE with S256.
 */
export function createAuthorizationDiscovery(outbound: OutboundClient, clock: Clock): DiscoverAuthorization {
  const send = outbound.fetchWith(LIMITS);
  return async (url, { issuer, signal } = {}) => {
    const limit = new AbortController();
    const cancel = clock.after(DISCOVERY_MS, () => limit.abort());
    const combined = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
    try {
      return await discover(new URL(url), issuer, (input, init) =>
        send(input, { ...init, signal: combined }),
      );
    } catch {
      // Every other failure is one of the remote servers.
      signal?.throwIfAborted();
      return undefined;
    } finally {
      cancel();
    }
  };
}

/** Describes an authorization for people. */
export function describeAuthorization({ server, scopes }: FoundAuthorization): Authorization {
  const scopesSupported = scopes.length > 0 ? scopes : (server.scopes_supported ?? []);
  return { issuer: server.issuer, scopesSupported, registration: registrationOf(server) };
}

export function registrationOf(server: AuthorizationServer): Registration {
  if (server.client_id_metadata_document_supported === true) return 'document';
  return server.registration_endpoint === undefined ? 'none' : 'dynamic';
}

async function discover(
  url: URL,
  chosen: string | undefined,
  send: Fetch,
): Promise<FoundAuthorization | undefined> {
  const challenge = await challengeOf(url, send);
  const resource = await findResource(url, challenge, send);
  const named = resource?.authorizationServers.find((one) => chosen === undefined || isSame(one, chosen));
  if (resource === undefined || named === undefined) return undefined;
  const server = await findIssuer(new URL(named), send);
  if (!server?.code_challenge_methods_supported?.includes('S256')) return undefined;
  const demanded = scopesIn(challengeMember(challenge, 'scope') ?? '');
  const scopes = demanded.length > 0 ? demanded : (resource.scopesSupported ?? []);
  return { resource: resource.resource, scopes, server };
}

/** Compares URLs without the slash at their end. */
function isSame(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

async function findResource(
  server: URL,
  challenge: string,
  send: Fetch,
): Promise<ResourceMetadata | undefined> {
  const challenged = challengedMetadata(challenge);
  for (const address of challenged ? [challenged] : wellKnownMetadata(server)) {
    const response = await send(address, { headers: { Accept: 'application/json' } });
    const metadata = response.ok
      ? readResourceMetadata(server, await response.json())
      : await discard(response);
    if (metadata) return metadata;
  }
  return undefined;
}

/** The header WWW-Authenticate of the server's answer; empty without one. */
async function challengeOf(server: URL, send: Fetch): Promise<string> {
  const response = await send(server, REQUEST);
  await discard(response);
  return response.headers.get('www-authenticate') ?? '';
}

async function findIssuer(issuer: URL, send: Fetch): Promise<AuthorizationServer | undefined> {
  const { processDiscoveryResponse } = await import('oauth4webapi');
  for (const address of issuerMetadata(issuer)) {
    const response = await send(address, { headers: { Accept: 'application/json' } });
    if (response.ok) return processDiscoveryResponse(issuer, response);
    await discard(response);
  }
  return undefined;
}

/** The addresses of the metadata of an issuer, in the order of the MCP specification of 2026-07-28. */
function issuerMetadata({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/$/, '');
  const paths = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${path}/.well-known/openid-configuration`]),
  ];
  return paths.map((one) => new URL(one, origin));
}

async function discard(response: Response): Promise<undefined> {
  await response.body?.cancel();
  return undefined;
}
