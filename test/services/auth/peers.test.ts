import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { openTo } from '../../support/peers.ts';
import { type AuthUnderTest, openAuthUnderTest } from './open.ts';

/** Who needs what. */
const ALLOWED: Record<string, string[]> = {
  edge: Object.keys(AuthServiceDefinition.methods).filter((method) => method !== 'listDisabledUsers'),
  agents: ['getUser', 'recordActs'],
  deployments: ['getUser', 'recordActs'],
  sessions: ['listDisabledUsers', 'recordActs'],
  files: [],
  runner: [],
  auth: [],
  stranger: [],
};

describe.each(TRANSPORTS)('who may ask auth what, %s', (transport) => {
  let auth: AuthUnderTest;
  beforeAll(async () => {
    auth = await openAuthUnderTest(transport);
  });
  afterAll(() => auth[Symbol.asyncDispose]());

  it.each(Object.keys(ALLOWED))('lets %s call what it needs and nothing else', async (peer) => {
    expect(await openTo(AuthServiceDefinition, auth.as(peer))).toEqual(ALLOWED[peer]?.toSorted());
  });
});
