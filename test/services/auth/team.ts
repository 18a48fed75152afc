import type { Caller } from '../../../lib/grpc/contract.ts';
import type { TransportName } from '../../support/context.ts';
import {
  type Account,
  AUDIENCE,
  CLIENT_ID,
  IdentityProvider,
  type IdentityProviderOptions,
} from '../../support/identity-provider.ts';
import { type AuthOptions, type AuthUnderTest, NOTHING, openAuthUnderTest } from './system.ts';

export const ORIGIN = 'http://127.0.0.1:1';
const CLIENT_SECRET = 'what-the-provider-shares-with-the-service';

/** Alice is an administrator by group, Root and Kim are administrators by e-mail address. */
const ACCOUNTS: Record<string, Account> = {
  alice: { name: 'Alice', email: 'Alice@example.com', groups: ['everybody', 'operators'] },
  bob: { name: 'Bob', email: 'bob@example.com', groups: ['everybody'] },
  root: { name: 'Root', email: 'root@example.com' },
};

/** Settings of the auth service for a provider. */
export function settingsFor(issuer: string): Record<string, string> {
  return {
    SERVICE_OIDC_ISSUER: issuer,
    SERVICE_OIDC_CLIENT_ID: CLIENT_ID,
    SERVICE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
    SERVICE_OIDC_AUDIENCE: AUDIENCE,
    SERVICE_OIDC_ADMINISTRATOR_GROUPS: 'operators',
    SERVICE_OIDC_ADMINISTRATORS: 'ROOT@example.com,Kim@example.com',
  };
}

export interface TeamUnderTest extends AuthUnderTest {
  provider: IdentityProvider;
}

/** Opens the auth service with a real identity provider. */
export async function openTeamUnderTest(
  transport: TransportName,
  options: AuthOptions = {},
  provided: IdentityProviderOptions = {},
): Promise<TeamUnderTest> {
  await using opening = new AsyncDisposableStack();
  const accounts = structuredClone(ACCOUNTS);
  const provider = opening.use(
    await IdentityProvider.open({ accounts, origin: ORIGIN, clientSecret: CLIENT_SECRET, ...provided }),
  );
  const env = { ...settingsFor(provider.issuer), ...options.env };
  const auth = opening.use(await openAuthUnderTest(transport, { publicUrl: ORIGIN, ...options, env }));
  const stack = opening.move();
  return { ...auth, provider, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Logs a user in. Returns the response of FinishLogin with the login value. */
export async function logIn({ edge, provider }: TeamUnderTest, subject: string, login = '', returnTo = '/') {
  const { authorizationUrl, attempt } = await edge.beginLogin({ returnTo });
  const query = await provider.login(authorizationUrl, subject);
  return edge.finishLogin({ attempt, query, login });
}

/** Call options of the user of a credential. */
export async function callerWith(
  { edge }: AuthUnderTest,
  shown: Partial<typeof NOTHING>,
): Promise<{ caller: Caller }> {
  const { user, credential } = await edge.identify({ ...NOTHING, ...shown });
  if (!user) throw new Error('the response has no user');
  return { caller: { userId: user.userId, roles: user.roles, groups: user.groups, credential } };
}

/** Opens another replica on the same database. */
export function openAnother(transport: TransportName, team: TeamUnderTest, options: AuthOptions = {}) {
  const env = { ...settingsFor(team.provider.issuer), SERVICE_OIDC_INTROSPECTION: 'true', ...options.env };
  return openAuthUnderTest(transport, { publicUrl: ORIGIN, ...options, env, databaseUrl: team.databaseUrl });
}
