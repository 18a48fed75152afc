import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { Refusal, refuse } from '../../lib/errors.ts';
import type { Protocol } from '../../lib/event-types.ts';
import type { Caller } from '../../lib/grpc/contract.ts';
import type { Trace } from '../../lib/trace.ts';
import type { IdentifyResponse } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { acceptedScopes, type RouteAccess } from '../access.ts';
import type { Clients } from '../clients.ts';
import type { AuthMode } from '../config.ts';
import { REALM } from '../errors.ts';
import { disconnectSignal } from '../plugins/disconnect-signal.ts';
import { endpointOf } from '../protocols/authorization/endpoints.ts';
import { ProtectedResources } from '../protocols/authorization/protected-resources.ts';
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
    /** The handler calls `authorize` itself, unless the request needs no credential. */
    authorizesItself?: true;
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
  /** The origin under which clients reach the service. */
  publicOrigin: () => string;
}

/** Authenticates requests with the auth service and checks that they have the scope that their route requires. */
export class Authenticator {
  readonly mode: AuthMode;
  readonly cookies: Cookies;
  readonly resources: ProtectedResources;
  readonly #identities: IdentityCache;
  readonly #monitor: CredentialMonitor;

  constructor(
    app: FastifyInstance,
    { bus, clients, clock, publicOrigin }: AuthenticatorContext,
    mode: AuthMode,
    cookies: Cookies,
  ) {
    this.mode = mode;
    this.cookies = cookies;
    this.resources = new ProtectedResources({ auth: clients.auth, clock, mode, origin: publicOrigin });
    this.#identities = new IdentityCache(clients.auth, bus, clock);
    this.#monitor = new CredentialMonitor(clients.auth, clock);
    app.decorateRequest('call', undefined);
    app.decorateRequest('scopes');
    app.decorateRequest('credential');
  }

  /** Routes with a protocol ignore cookies. */
  credentialOf(request: FastifyRequest): Credential {
    const credential = credentialOf(request.headers, this.cookies);
    if (!request.routeOptions.config.protocol) return credential;
    return { ...credential, login: '', resource: this.resources.urlOf(endpointOf(request)) };
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
    const { credential, routeOptions, address } = request;
    const { protocol } = routeOptions.config;
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
    const identity = await this.#identify(request, source, options).catch(async (error: unknown) => {
      if (isRejectedCredential(error))
        await this.#challenge(request, reply, access, bearerErrorOf(credential));
      throw error;
    });
    const { user, scopes, credential: credentialId } = identity;
    if (!user) throw refuse('INTERNAL', 'The auth service returned no user.');
    const { userId, roles, groups } = user;
    const caller: Caller = { userId, roles, groups, credential: credentialId, address };
    request.call = { ...options, caller: protocol ? { ...caller, protocol } : caller };
    request.scopes = scopes;
    const accepted = acceptedScopes(access);
    if (!accepted.some((scope) => scopes.includes(scope))) {
      await this.#challenge(request, reply, access, INSUFFICIENT_SCOPE);
      throw refuse(
        'SCOPE_INSUFFICIENT',
        `This request requires the scope ${accepted.map((scope) => `\`${scope}\``).join(' or ')}.`,
      );
    }
    if (this.mode === 'oidc') longLived?.monitor(credential, identity);
  }

  stop(): void {
    this.#monitor.stop();
    this.#identities.stop();
  }

  async #identify(
    { credential }: FastifyRequest,
    address: string | undefined,
    options: Omit<AuthenticatedCall, 'caller'>,
  ): Promise<IdentifyResponse> {
    if (credential.bearer === '' && this.mode === 'oidc')
      throw refuse('UNAUTHENTICATED', 'The bearer token is malformed.');
    return this.#identities.identify(credential, address, options);
  }

  /** Sets the header WWW-Authenticate. On protected resources, it says where the client can get another token. */
  async #challenge(
    request: FastifyRequest,
    reply: FastifyReply,
    access: RouteAccess,
    error: string | undefined,
  ): Promise<void> {
    const [scope = ''] = acceptedScopes(access);
    const endpoint = request.routeOptions.config.protocol && endpointOf(request);
    const context = { trace: request.span.trace, requestId: request.id };
    const parameters = endpoint && (await this.resources.challenge(endpoint, scope, context));
    const plain = error === INSUFFICIENT_SCOPE ? `scope="${scope}"` : undefined;
    const parts = [REALM, error, parameters ?? plain].filter((part) => part !== undefined);
    reply.header('www-authenticate', parts.join(', '));
  }
}

const INVALID_TOKEN = 'error="invalid_token"';
const INSUFFICIENT_SCOPE = 'error="insufficient_scope"';

/** A route without declared access is restricted to administrators. */
const requiredAccess = ({ routeOptions }: FastifyRequest): RouteAccess =>
  routeOptions.config.access ?? 'admin';

function isRejectedCredential(error: unknown): boolean {
  return error instanceof Refusal && (error.code === 'UNAUTHENTICATED' || error.code === 'TOKEN_EXPIRED');
}

/** The error of a rejected bearer token. A request without one gets no error (RFC 6750, section 3.1). */
const bearerErrorOf = ({ bearer }: Credential) => (bearer === undefined ? undefined : INVALID_TOKEN);

/** Shared, because a reason of its own for each response would capture a stack trace that nothing reads. */
const CLOSED = new DOMException('The response was closed.', 'AbortError');

/** A response that may stay open for long. Its signal aborts when either side ends it or its credential becomes invalid. */
class LongLivedResponse {
  readonly #controller = new AbortController();
  readonly #response: ServerResponse;
  readonly #monitor: CredentialMonitor;
  #monitored: MonitoredCredential | undefined;

  constructor(response: ServerResponse, monitor: CredentialMonitor) {
    this.#response = response;
    this.#monitor = monitor;
    (response as ClosableResponse)[LONG_LIVED] = this;
    // The event fires once. `once` would keep more objects for each of thousands of streams.
    response.on('close', endLongLived);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Called when the response is closed. */
  end(): void {
    this.#controller.abort(CLOSED);
    if (this.#monitored) this.#monitor.remove(this.#monitored, this.#controller);
  }

  monitor({ bearer = '', login, resource }: Credential, identity: IdentifyResponse): void {
    if (this.signal.aborted) return;
    this.#monitored = this.#monitor.add(
      { bearer, login, resource },
      identity,
      this.#controller,
      this.#response,
    );
  }
}

const LONG_LIVED = Symbol('long-lived response');

interface ClosableResponse extends ServerResponse {
  [LONG_LIVED]?: LongLivedResponse;
}

/** A listener that all responses share, because each of thousands of streams would retain a function of its own. */
function endLongLived(this: ClosableResponse): void {
  this[LONG_LIVED]?.end();
}
