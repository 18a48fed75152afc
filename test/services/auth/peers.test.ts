import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthUnderTest, openAuthUnderTest } from './open.ts';

const METHODS = Object.keys(AuthServiceDefinition.methods) as (keyof typeof AuthServiceDefinition.methods)[];
type Method = (typeof METHODS)[number];

/** Who needs what; the edge needs everything. */
const ALLOWED: Record<string, Method[]> = {
  edge: METHODS,
  agents: ['getUser', 'recordActs'],
  deployments: ['getUser', 'recordActs'],
  sessions: ['recordActs'],
  files: ['recordActs'],
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
    const client = auth.as(peer) as Record<Method, (request: unknown) => Promise<unknown>>;
    const open: Method[] = [];
    for (const method of METHODS) {
      const request = AuthServiceDefinition.methods[method].requestType.decode(new Uint8Array());
      const code = await client[method](request).then(
        () => 'OK',
        (error: { code: string }) => error.code,
      );
      if (code !== 'FORBIDDEN') open.push(method);
    }
    expect(open.toSorted()).toEqual(ALLOWED[peer]?.toSorted());
  });
});
