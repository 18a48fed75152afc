import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { Refusal, refuse } from '../../lib/errors.ts';
import type { Protocol } from '../../lib/event-types.ts';
import type { Caller } from '../../lib/grpc/contract.ts';
import type { Trace } from '../../lib/trace.ts';
import type { IdentifyResponse } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { RouteAccess } from '../access.ts';
import type { Clients } from '../clients.ts';
import type { AuthMode } from '../config.ts';
import { REALM } from '../errors.ts';
import { disconnectSignal } from '../plugins/disconnect-signal.ts';
import type { Cookies } from './cookies.ts';
import { type Credential, credentialOf } from './credential.ts';
import { CredentialMonitor, type MonitoredCredential } from './credential-monitor.ts';
import { IdentityCache } from './identity-cache.ts';

/** Options of calls to services on behalf of a request and the user who sent it. */
interface AuthenticatedCall {
  caller: Caller;
  /** Aborts when the client disconnects, and on long-lived responses also when the credential becomes invalid. */
  signal: AbortSignal;
  trace: Trace;
  requestId: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined on routes with access `open`. */
    call: AuthenticatedCall | undefined;
    /** The scopes of the credential. Unset on routes with access `open`. */
    scopes: readonly string[];
    /** Not verified. */
    credential: Credential;
  }
  interface FastifyContextConfig {
    /** The request or response may stay open for long; it ends when its credential becomes invalid. */
    longLived?: boolean;
    /** Other sites may link to this route. True for every path outside of /api. */
    isPage?: boolean;
    /** The page of the console to which a refused request that accepts HTML is redirected, with the code in `refused`. */
    refusalPage?: string;
    /** The protocol that the route speaks. Its requests are attributed to the token, and cookies are ignored. */
    protocol?: Protocol;
  }
}

/** The call options of a request to a route that requires a credential. */
export function callOf({ call, routeOptions }: FastifyRequest): AuthenticatedCall {
  if (!call) throw new Error(`The route ${routeOptions.url} has access "open" but needs a caller.`);
  return call;
}

/** For routes that do not call a service which checks the role. Refuses with FORBIDDEN. */
export function requireAdministrator(request: FastifyRequest): void {
  if (callOf(request).caller.roles.includes('administrator')) return;
  throw refuse('FORBIDDEN', 'This requires an administrator.');
}

interface AuthenticatorContext {
  bus: Pick<Bus, 'subscribe'>;
  clients: Clients;
  clock: Clock;
}

/** Authenticates requests with the auth service and checks that they have the scope that their route requires. */
export class Authenticator {
  readonly mode: AuthMode;
  readonly cookies: Cookies;
  readonly #identities: IdentityCache;
  readonly #monitor: CredentialMonitor;

  constructor(
    app: FastifyInstance,
    { bus, clients, clock }: AuthenticatorContext,
    mode: AuthMode,
    cookies: Cookies,
  ) {
    this.mode = mode;
    this.cookies = cookies;
    this.#identities = new IdentityCache(clients.auth, bus, clock);
    this.#monitor = new CredentialMonitor(clients.auth, clock);
    app.decorateRequest('call', undefined);
    app.decorateRequest('scopes');
    app.decorateRequest('credential');
  }

  credentialOf(headers: IncomingHttpHeaders): Credential {
    return credentialOf(headers, this.cookies);
  }

  /**
   * Authenticates a request and checks its scope: that of its route, or the given one. Sets `request.call`. Refuses with
   * UNAUTHENTICATED, TOKEN_EXPIRED, SCOPE_INSUFFICIENT or RATE_LIMITED.
   */
  async authorize(
    request: FastifyRequest,
    reply: FastifyReply,
    access = requiredAccess(request),
  ): Promise<void> {
    if (access === 'open') return;
    const { routeOptions, address } = request;
    const { protocol } = routeOptions.config;
    const credential = protocol ? { ...request.credential, login: '' } : request.credential;
    const longLived = routeOptions.config.longLived
      ? new LongLivedResponse(reply.raw, this.#monitor)
      : undefined;
    const options = {
      signal: longLived?.signal ?? disconnectSignal(reply),
      trace: request.span.trace,
      requestId: request.id,
    };
    // Local mode has no invalid credentials, so auth does not count failures per address.
    const source = this.mode === 'oidc' ? address : undefined;
    const identity = await this.#identify(credential, source, options, reply);
    const { user, scopes, credential: credentialId } = identity;
    if (!user) throw refuse('INTERNAL', 'The auth service returned no user.');
    const { userId, roles, groups } = user;
    const caller: Caller = { userId, roles, groups, credential: credentialId, address };
    request.call = { ...options, caller: protocol ? { ...caller, protocol } : caller };
    request.scopes = scopes;
    if (!scopes.includes(access)) throw insufficientScope(access, reply);
    if (this.mode === 'oidc') longLived?.monitor(credential, identity);
  }

  stop(): void {
    this.#monitor.stop();
    this.#identities.stop();
  }

  async #identify(
    credential: Credential,
    address: string | undefined,
    options: Omit<AuthenticatedCall, 'caller'>,
    reply: FastifyReply,
  ): Promise<IdentifyResponse> {
    const { bearer } = credential;
    try {
      if (bearer === '' && this.mode === 'oidc')
        throw refuse('UNAUTHENTICATED', 'The bearer token is malformed.');
      return await this.#identities.identify(credential, address, options);
    } catch (error) {
      if (bearer !== undefined && error instanceof Refusal && error.code in TOKEN_ERRORS)
        reply.header('www-authenticate', `${REALM}, error="invalid_token"`);
      throw error;
    }
  }
}

/** A route without declared access is restricted to administrators. */
const requiredAccess = ({ routeOptions }: FastifyRequest): RouteAccess =>
  routeOptions.config.access ?? 'admin';

const TOKEN_ERRORS = { UNAUTHENTICATED: true, TOKEN_EXPIRED: true };

function insufficientScope(scope: RouteAccess, reply: FastifyReply): Refusal {
  reply.header('www-authenticate', `${REALM}, error="insufficient_scope", scope="${scope}"`);
  return refuse('SCOPE_INSUFFICIENT', `This request requires the scope \`${scope}\`.`);
}

/** A response that may stay open for long. Its signal aborts when either side ends it or its credential becomes invalid. */
class LongLivedResponse {
  readonly #controller = new AbortController();
  readonly #response: ServerResponse;
  readonly #monitor: CredentialMonitor;
  #monitored: MonitoredCredential | undefined;

  constructor(response: ServerResponse, monitor: CredentialMonitor) {
    this.#response = response;
    this.#monitor = monitor;
    // The event fires once. `once` would keep more objects for each of thousands of streams.
    response.on('close', () => {
      this.#controller.abort();
      if (this.#monitored) monitor.remove(this.#monitored, this.#controller);
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  monitor({ bearer = '', login }: Credential, identity: IdentifyResponse): void {
    if (this.signal.aborted) return;
    this.#monitored = this.#monitor.add({ bearer, login }, identity, this.#controller, this.#response);
  }
}
