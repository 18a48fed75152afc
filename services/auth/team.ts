import type { Sealer } from '../../lib/sealing.ts';
import type { ServiceContext } from '../../lib/service.ts';
import type { AuthConfig } from './config.ts';
import { type Administrators, loweredAddress } from './domain/person.ts';
import { MAX_AGE_MS } from './identity.ts';
import { createAccessTokens } from './oidc/access-tokens.ts';
import { createLogins } from './oidc/logins.ts';
import { createProvider } from './oidc/provider.ts';
import { createPeople } from './people.ts';
import type { NoteLogin } from './recorder.ts';
import type { LoginStore } from './store/logins.ts';
import type { UserStore } from './store/users.ts';

/** What it takes that users of an identity provider get in. */
export interface Team {
  /** Seals what is secret in logins. */
  sealer: Sealer;
  /** Where browsers reach the service: an origin, without a slash at its end. */
  publicUrl: () => string;
}

export interface TeamContext extends Pick<ServiceContext, 'bus' | 'clock' | 'ids' | 'log'> {
  users: UserStore;
  logins: LoginStore;
  note: NoteLogin;
  /** Tells every replica that a login, by the digest of its value, is worth nothing any more. */
  ended: (digest: string) => Promise<void>;
}

export function administratorsOf({ administratorGroups, administrators }: AuthConfig): Administrators {
  return { groups: administratorGroups, emails: administrators.map(loweredAddress) };
}

/** How users are told apart whose providers are. */
export function issuerOf({ issuer }: AuthConfig): string {
  if (issuer === undefined)
    throw new Error('an identity provider is needed, and its settings were not checked');
  return issuer.replace(/\/$/, '');
}

/** Logins and access tokens of the identity provider that the settings name. */
export function openTeam(config: AuthConfig, { sealer, publicUrl }: Team, context: TeamContext) {
  const { clientId = '', clientSecret, audience, scopes, scopePrefix, groupsClaim, introspection } = config;
  const { bus, clock, ids, log, users, logins: store, note, ended } = context;
  const { issuer: place = '' } = config;
  const provider = createProvider({ issuer: place, clientId, clientSecret }, clock);
  const people = createPeople({
    users,
    bus,
    clock,
    ids,
    issuer: issuerOf(config),
    groupsClaim,
    administrators: administratorsOf(config),
  });
  const logins = createLogins({
    provider,
    people,
    store,
    sealer,
    clock,
    ids,
    log,
    note,
    ended,
    origin: publicUrl,
    clientId,
    scopes,
    groupsClaim,
    maxSeconds: config.loginMaxHours * 3_600,
  });
  const accessTokens =
    audience === undefined
      ? undefined
      : createAccessTokens({
          provider,
          people,
          clock,
          log,
          audience,
          scopePrefix,
          introspection,
          keptMs: MAX_AGE_MS,
        });
  return { logins, accessTokens };
}
