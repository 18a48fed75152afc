import { createCache } from '../../../lib/cache.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { GetAuthorizationServerResponse } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import type { Clients } from '../../clients.ts';
import type { AuthMode } from '../../config.ts';
import { ENDPOINTS } from './endpoints.ts';

export const WELL_KNOWN = '/.well-known/oauth-protected-resource';
/** The scopes of an endpoint. `approve` is requested only by clients that decide approvals, which the OpenAI API cannot. */
const scopesOf = (endpoint: string) => (endpoint === ENDPOINTS.openai ? ['mcp'] : ['mcp', 'approve']);
/** auth reads its settings when it starts, so a change takes effect after this time at the latest. */
const MAX_AGE_MS = 60_000;

/** https://www.rfc-editor.org/rfc/rfc9728#section-2 */
interface ResourceMetadata {
  resource: string;
  authorization_servers: string[];
  scopes_supported: string[];
  bearer_methods_supported: string[];
  resource_name: string;
}

interface ProtectedResourcesContext {
  auth: Clients['auth'];
  clock: Clock;
  mode: AuthMode;
  /** The origin under which clients reach the service. */
  origin: () => string;
}

type RequestContext = Pick<CallOptions, 'trace' | 'requestId'>;

/**
 * The protocol endpoints as protected resources of OAuth 2: their URLs, their metadata (RFC 9728) and the parameters of
 * their challenges (RFC 6750). There is no metadata in local mode and while no access tokens are accepted.
 */
export class ProtectedResources {
  readonly #context: ProtectedResourcesContext;
  readonly #servers;

  constructor(context: ProtectedResourcesContext) {
    this.#context = context;
    this.#servers = createCache<GetAuthorizationServerResponse>(context.clock, MAX_AGE_MS, 1);
  }

  /** Returns the URL of an endpoint, which access tokens may have as audience; undefined in local mode. */
  urlOf(endpoint: string | undefined): string | undefined {
    const { mode, origin } = this.#context;
    return mode === 'local' || endpoint === undefined ? undefined : origin() + endpoint;
  }

  /** Fails with DEPENDENCY_UNAVAILABLE while auth cannot be reached. */
  async metadata(endpoint: string, request: RequestContext): Promise<ResourceMetadata | undefined> {
    const resource = this.urlOf(endpoint);
    const { issuer, scopePrefix } = await this.#authorizationServer(request);
    if (resource === undefined || issuer === undefined) return undefined;
    return {
      resource,
      authorization_servers: [issuer],
      scopes_supported: scopesOf(endpoint).map((scope) => scopePrefix + scope),
      bearer_methods_supported: ['header'],
      resource_name: 'Agent Hosting Service',
    };
  }

  /**
   * Returns the parameters of a challenge that tell a client where and for which scope to log in; undefined without metadata.
   * Fails with DEPENDENCY_UNAVAILABLE.
   */
  async challenge(endpoint: string, scope: string, request: RequestContext): Promise<string | undefined> {
    const { issuer, scopePrefix } = await this.#authorizationServer(request);
    if (issuer === undefined) return undefined;
    const document = this.#context.origin() + WELL_KNOWN + endpoint;
    return `resource_metadata="${document}", scope="${scopePrefix}${scope}"`;
  }

  /** Concurrent requests share a call, which ignores their cancellation. */
  #authorizationServer({ trace, requestId }: RequestContext): Promise<GetAuthorizationServerResponse> {
    const { auth, mode } = this.#context;
    if (mode === 'local') return Promise.resolve({ scopePrefix: '' });
    return this.#servers.get('', () => auth.getAuthorizationServer({}, { trace, requestId }));
  }
}
