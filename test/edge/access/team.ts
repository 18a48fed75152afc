import { freePort } from '../../../lib/db/embedded/port.ts';
import { type Account, AUDIENCE, CLIENT_ID, IdentityProvider } from '../../support/identity-provider.ts';
import { rowsOn } from '../../support/sql.ts';
import { type System, startSystem } from '../../support/system.ts';
import { Browser } from './browser.ts';

export { Browser, type Seen, seen } from './browser.ts';

/** Alice is an administrator by her group. */
const ACCOUNTS: Record<string, Account> = {
  alice: { name: 'Alice', email: 'alice@example.com', groups: ['operators'] },
  bob: { name: 'Bob', email: 'bob@example.com' },
  carol: { name: 'Carol', email: 'carol@example.com' },
};

/** The whole system where people log in, with a real identity provider. */
export interface Team extends System {
  provider: IdentityProvider;
  /** A browser of somebody who has just logged in. */
  logIn(subject: string, returnTo?: string): Promise<Browser>;
}

/** What the service is told of a provider. */
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
  // Where browsers go is not where it listens.
  const port = published === undefined ? undefined : String(await freePort());
  const listening: Record<string, string> = port === undefined ? {} : { SERVICE_PORT: port };
  const system = opened.use(await startSystem({ ...teamSettings(provider), ...listening, ...settings }));
  provider.returnTo(published ?? system.url);
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

/** Makes a token old that nobody has used yet. */
export async function expire({ databaseUrl }: System, tokenId: string): Promise<void> {
  await rowsOn(
    databaseUrl,
    `update auth.tokens set expires_at = now() - interval '1 day' where token_id = '${tokenId}'`,
  );
}
