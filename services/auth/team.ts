import type { Sealer, SealingKeySource } from '../../lib/sealing.ts';
import type { ServiceContext } from '../../lib/service.ts';
import type { LoginAuditor } from './audit-recorder.ts';
import type { AuthConfig } from './config.ts';
import { type Administrators, normalizeEmail } from './domain/provider-profile.ts';
import { IDENTITY_CACHE_MS } from './identity.ts';
import { createAccessTokenVerifier } from './oidc/access-tokens.ts';
import { createLimitedProvider } from './oidc/limited-provider.ts';
import { createLoginFlow } from './oidc/login-flow.ts';
import { createProviderClient } from './oidc/provider.ts';
import { createProviderQueryLimiter } from './oidc/query-limiter.ts';
import type { LoginStore } from './store/logins.ts';
import type { UserStore } from './store/users.ts';
import { createUserSync } from './user-sync.ts';

/** Options of team mode, in which users of an identity provider log in. */
export interface TeamOptions {
  /** The keys that encrypt the secrets of logins. */
  sealingKeys: SealingKeySource;
  /** Origin of the service for browsers, without a slash at its end. */
  publicUrl: () => string;
}

interface TeamContext extends Pick<ServiceContext, 'bus' | 'clock' | 'ids' | 'log' | 'rateLimiter'> {
  sealer: Sealer;
  users: UserStore;
  logins: LoginStore;
  auditLogin: LoginAuditor;
  /** Clears the caches of all replicas for an ended login, by the digest of its value. */
  announceEnd: (digest: string) => Promise<void>;
}

export function administratorsOf({ administratorGroups, administrators }: AuthConfig): Administrators {
  return { groups: administratorGroups, emails: administrators.map(normalizeEmail) };
}

/** The issuer that is stored with users. */
export function issuerOf({ issuer }: AuthConfig): string {
  if (issuer === undefined)
    throw new Error('SERVICE_OIDC_ISSUER is not set, and the settings were not checked');
  return issuer.replace(/\/$/, '');
}

/** Opens the login flow and the access token verifier for the configured identity provider. */
export function openTeam(config: AuthConfig, { publicUrl }: TeamOptions, context: TeamContext) {
  const { clientId = '', clientSecret, audience, scopes, scopePrefix, groupsClaim, introspection } = config;
  const {
    sealer,
    bus,
    clock,
    ids,
    log,
    rateLimiter,
    users,
    logins: store,
    auditLogin,
    announceEnd,
  } = context;
  const { issuer = '', queriesPerMinute } = config;
  const provider = createProviderClient({ issuer, clientId, clientSecret }, clock);
  const userSync = createUserSync({
    users,
    bus,
    clock,
    ids,
    issuer: issuerOf(config),
    groupsClaim,
    administrators: administratorsOf(config),
  });
  const logins = createLoginFlow({
    provider,
    userSync,
    store,
    sealer,
    clock,
    ids,
    log,
    auditLogin,
    announceEnd,
    origin: publicUrl,
    clientId,
    scopes,
    groupsClaim,
    maxSeconds: config.loginMaxHours * 3_600,
  });
  const accessTokens =
    audience === undefined
      ? undefined
      : createAccessTokenVerifier({
          provider: createLimitedProvider(
            provider,
            createProviderQueryLimiter({ rateLimiter, clock, queriesPerMinute }),
          ),
          userSync,
          clock,
          log,
          audience,
          scopePrefix,
          introspection,
          introspectionCacheMs: IDENTITY_CACHE_MS,
        });
  const authorizationServer = accessTokens && { issuer: () => provider.issuer(), scopePrefix };
  return { logins, accessTokens, authorizationServer, checkProvider: provider.check };
}
