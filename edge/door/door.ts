import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../lib/clock.ts';
import { Refusal, refuse } from '../../lib/errors.ts';
import type { Caller } from '../../lib/grpc/contract.ts';
import type { Trace } from '../../lib/trace.ts';
import type { IdentifyResponse } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { Access } from '../access.ts';
import type { Clients } from '../clients.ts';
import type { AuthMode } from '../config.ts';
import { REALM } from '../errors.ts';
import { presenceOf } from '../plugins/presence.ts';
import type { Cookies } from './cookies.ts';
import { type Credential, credentialOf } from './credential.ts';
import { Vigil, type Watched } from './vigil.ts';

/** For every call that is made for a request, and for the user who has sent it. */
export interface KnownCall {
  caller: Caller;
  /** Aborts when nobody waits for the answer any more, or may. */
  signal: AbortSignal;
  trace: Trace;
  requestId: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined where the route is open to anybody. */
    call: KnownCall | undefined;
    /** Whatever it is worth. */
    credential: Credential;
  }
  interface FastifyContextConfig {
    /** The answer, or the request, may go on for long: it ends when its credential does. */
    lasting?: boolean;
    /** For people: links to it may be followed from anywhere. So is all that is not below /api. */
    isPage?: boolean;
  }
}

/** Who has sent a request, at a route that is not open to anybody. */
export function callOf({ call, routeOptions }: FastifyRequest): KnownCall {
  if (!call) throw new Error(`${routeOptions.url} is open to anybody, and wants to know who calls`);
  return call;
}

/** Where there is no service behind what is asked that would see to it. Refused with FORBIDDEN. */
export function checkAdministrator(request: FastifyRequest): void {
  if (callOf(request).caller.roles.includes('administrator')) return;
  throw refuse('FORBIDDEN', 'only an administrator may see this');
}

export interface DoorContext {
  clients: Clients;
  clock: Clock;
}

/** All requests come in through it: it asks auth who sends them, and refuses those whom the route is not open to. */
export class Door {
  readonly mode: AuthMode;
  readonly cookies: Cookies;
  readonly #auth: Clients['auth'];
  readonly #vigil: Vigil;

  constructor(app: FastifyInstance, { clients, clock }: DoorContext, mode: AuthMode, cookies: Cookies) {
    this.mode = mode;
    this.cookies = cookies;
    this.#auth = clients.auth;
    this.#vigil = new Vigil(clients.auth, clock);
    app.decorateRequest('call', undefined);
    app.decorateRequest('credential');
  }

  credentialOf(headers: IncomingHttpHeaders): Credential {
    return credentialOf(headers, this.cookies);
  }

  /**
   * Sees to it that a request has what is asked for: by its route, or by what it wants besides. Refused with
   * UNAUTHENTICATED, TOKEN_EXPIRED, SCOPE_INSUFFICIENT, RATE_LIMITED.
   */
  async admit(request: FastifyRequest, reply: FastifyReply, access = accessOf(request)): Promise<void> {
    if (access === 'open') return;
    const { credential, routeOptions } = request;
    const stay = routeOptions.config.lasting ? new Stay(reply.raw, this.#vigil) : undefined;
    const asked = {
      signal: stay?.signal ?? presenceOf(reply),
      trace: request.span.trace,
      requestId: request.id,
    };
    const { address } = request;
    // Where nobody logs in, nothing that is shown can be wrong, and nobody counts from where.
    const source = this.mode === 'oidc' ? address : undefined;
    const identity = await this.#ask(credential, source, asked, reply);
    const { user, scopes } = identity;
    if (!user) throw refuse('INTERNAL', 'auth names nobody');
    const { userId, roles, groups } = user;
    const { credential: shown } = identity;
    request.call = { ...asked, caller: { userId, roles, groups, credential: shown, address } };
    if (!scopes.includes(access)) throw scopeMissing(access, reply);
    if (this.mode === 'oidc') stay?.watch(credential, identity);
  }

  stop(): void {
    this.#vigil.stop();
  }

  async #ask(
    { bearer, login }: Credential,
    address: string | undefined,
    asked: Omit<KnownCall, 'caller'>,
    reply: FastifyReply,
  ): Promise<IdentifyResponse> {
    try {
      if (bearer === '' && this.mode === 'oidc')
        throw refuse('UNAUTHENTICATED', 'what follows Bearer is no token');
      return await this.#auth.identify({ bearer: bearer ?? '', login, address }, asked);
    } catch (error) {
      if (bearer !== undefined && error instanceof Refusal && error.code in TOKEN_ERRORS)
        reply.header('www-authenticate', `${REALM}, error="invalid_token"`);
      throw error;
    }
  }
}

/** What nobody has said is closed to everybody who is not an administrator. */
const accessOf = ({ routeOptions }: FastifyRequest): Access => routeOptions.config.access ?? 'admin';

const TOKEN_ERRORS = { UNAUTHENTICATED: true, TOKEN_EXPIRED: true };

function scopeMissing(scope: Access, reply: FastifyReply): Refusal {
  reply.header('www-authenticate', `${REALM}, error="insufficient_scope", scope="${scope}"`);
  return refuse('SCOPE_INSUFFICIENT', `the scope ${scope} is needed`);
}

/** A request whose answer may go on for long. It is over when either side ends it, or its credential does. */
class Stay {
  readonly #controller = new AbortController();
  readonly #response: ServerResponse;
  readonly #vigil: Vigil;
  #watched: Watched | undefined;

  constructor(response: ServerResponse, vigil: Vigil) {
    this.#response = response;
    this.#vigil = vigil;
    // It comes once; `once` would keep more for each of thousands of streams.
    response.on('close', () => {
      this.#controller.abort();
      if (this.#watched) vigil.leave(this.#watched, this.#controller);
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  watch({ bearer = '', login }: Credential, identity: IdentifyResponse): void {
    if (this.signal.aborted) return;
    this.#watched = this.#vigil.join({ bearer, login }, identity, this.#controller, this.#response);
  }
}
