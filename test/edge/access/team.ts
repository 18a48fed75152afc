import { type Account, AUDIENCE, CLIENT_ID, IdentityProvider } from '../../support/identity-provider.ts';
import { freePort } from '../../support/port.ts';
import { rowsOn } from '../../support/sql.ts';
import { type System, startSystem } from '../../support/system.ts';
import { Browser } from './browser.ts';

export { Browser, type ParsedResponse, parseResponse } from './browser.ts';

/** Alice is an administrator through her group. */
const ACCOUNTS: Record<string, Account> = {
  alice: { name: 'Alice', email: 'alice@example.com', groups: ['operators'] },
  bob: { name: 'Bob', email: 'bob@example.com' },
  carol: { name: 'Carol', email: 'carol@example.com' },
};

/** The complete system in mode oidc, with an identity provider. */
export interface Team extends System {
  provider: IdentityProvider;
  /** A browser with a new login. */
  logIn(subject: string, returnTo?: string): Promise<Browser>;
}

/** The settings for an identity provider. */
export function teamSettings(provider: IdentityProvider): Record<string, string> {
  return {
    SERVICE_AUTH_MODE: 'oidc',
    SERVICE_OIDC_ISSUER: provider.issuer,
    SERVICE_OIDC_CLIENT_ID: CLIENT_ID,
    SERVICE_OIDC_AUDIENCE: AUDIENCE,
    SERVICE_OIDC_ADMINISTRATOR_GROUPS: 'operators',
  };
}

export async function startTeam(settings: Record<string, string> = {}): Promise<Team> {
  await using opened = new AsyncDisposableStack();
  const provider = opened.use(await IdentityProvider.open({ accounts: structuredClone(ACCOUNTS) }));
  const { SERVICE_PUBLIC_URL: published } = settings;
  // The public URL is not the listening URL.
  const port = published === undefined ? undefined : String(await freePort());
  const listening: Record<string, string> = port === undefined ? {} : { SERVICE_PORT: port };
  const system = opened.use(await startSystem({ ...teamSettings(provider), ...listening, ...settings }));
  provider.setOrigin(published ?? system.url);
  const url = port === undefined ? system.url : `http://127.0.0.1:${port}`;
  const stack = opened.move();
  return {
    ...system,
    url,
    provider,
    async logIn(subject, returnTo) {
      const browser = new Browser(url, published);
      await browser.logIn(provider, subject, returnTo);
      return browser;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Expires an unused token. */
export async function expire({ databaseUrl }: System, tokenId: string): Promise<void> {
  await rowsOn(
    databaseUrl,
    `update auth.tokens set expires_at = now() - interval '1 day' where token_id = '${tokenId}'`,
  );
}

/** Sets the stored scopes of a token, including scopes that cannot be requested. */
export async function setScopes({ databaseUrl }: System, tokenId: string, scopes: string[]): Promise<void> {
  await rowsOn(
    databaseUrl,
    `update auth.tokens set scopes = '{${scopes.join()}}' where token_id = '${tokenId}'`,
  );
}
