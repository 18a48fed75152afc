import { readSettings } from '../../../lib/env/read-settings.ts';
import type { SettingProblem } from '../../../lib/env.ts';
import type { Caller, Client } from '../../../lib/grpc/contract.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { checkTeamSettings, settings } from '../../../services/auth/config.ts';
import { openAuth } from '../../../services/auth/service.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';

export interface AuthUnderTest extends AsyncDisposable {
  as(self: string, secret?: string): Client<AuthServiceDefinition>;
  edge: Client<AuthServiceDefinition>;
  databaseUrl: string;
}

export interface AuthOptions extends Partial<ServiceContext> {
  /** Origin of the service for browsers. Default: local mode. */
  publicUrl?: string;
  /** Settings by variable name. */
  env?: Record<string, string>;
}

/** Opens the auth service on a new or the given database, behind the transport under test. */
export async function openAuthUnderTest(
  transport: TransportName,
  { env = {}, publicUrl, ...overrides }: AuthOptions = {},
): Promise<AuthUnderTest> {
  await using opening = new AsyncDisposableStack();
  const url = overrides.databaseUrl ?? opening.use(await createDatabase()).url;
  const context = createContext(url, overrides);
  const problems: SettingProblem[] = [];
  const config = readSettings(settings, env, problems);
  if (publicUrl !== undefined) problems.push(...checkTeamSettings(config));
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const sealingKeys = { read: async () => SEALING_KEY, create: async () => SEALING_KEY };
  const team = publicUrl === undefined ? undefined : { sealingKeys, publicUrl: () => publicUrl };
  const auth = opening.adopt(await openAuth(context, config, team), (service) => service.stop());
  const { as } = opening.use(await connect(AuthServiceDefinition, auth.endpoint, transport, context));
  const stack = opening.move();
  return { as, edge: as('edge'), databaseUrl: url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const SEALING_KEY = 'the key that seals what is secret in logins';

export const NOTHING = { bearer: '', login: '' };

/** Call options of a user with a login. */
export function loggedIn(letter: string, roles = ['member']): { caller: Caller } {
  return { caller: { userId: `usr_${letter.repeat(26)}`, roles, credential: `lgn_${letter.repeat(26)}` } };
}

export const LOCAL: { caller: Caller } = {
  caller: { userId: 'usr_00000000000000000000000001', roles: ['administrator'], credential: 'local' },
};
