import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { callableMethods } from '../../support/callable-methods.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthUnderTest, openAuthUnderTest } from './system.ts';

/** The methods that each service may call. */
const ALLOWED: Record<string, string[]> = {
  edge: Object.keys(AuthServiceDefinition.methods).filter((method) => method !== 'listDisabledUsers'),
  agents: ['getUser', 'recordActs'],
  deployments: ['getUser', 'findUsers', 'recordActs'],
  vaults: ['recordActs'],
  sessions: ['listDisabledUsers', 'recordActs'],
  files: [],
  runner: [],
  auth: [],
  stranger: [],
};

describe.each(TRANSPORTS)('peers of the auth service, %s', (transport) => {
  let auth: AuthUnderTest;
  beforeAll(async () => {
    auth = await openAuthUnderTest(transport);
  });
  afterAll(() => auth[Symbol.asyncDispose]());

  it.each(Object.keys(ALLOWED))('allows %s to call exactly its methods', async (peer) => {
    expect(await callableMethods(AuthServiceDefinition, auth.as(peer))).toEqual(ALLOWED[peer]?.toSorted());
  });
});
