import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../lib/grpc/client.ts';
import type { Caller } from '../../../lib/grpc/contract.ts';
import { localTransport } from '../../../lib/grpc/local.ts';
import { createIssuer } from '../../../lib/grpc/passport.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { fakeEndpoint } from '../../support/fake-service.ts';

const SECRET = 'what services share and nobody else knows';
const MINUTE_MS = 60_000;
const ALICE: Caller = { userId: `usr_${'A'.repeat(26)}`, roles: ['member'], groups: ['red'] };
const ROOT: Caller = { userId: `usr_${'R'.repeat(26)}`, roles: ['member', 'administrator'], groups: [] };

const encoded = (passport: object) => Buffer.from(JSON.stringify(passport)).toString('base64url');
const signed = (payload: string, secret: string, hash = 'sha256') =>
  `${payload}.${createHmac(hash, secret).update(payload).digest('base64url')}`;

/** A service that keeps in mind for whom it was called. */
describe('the passport of a call', () => {
  let clock: FakeClock;
  let endpoint: Endpoint;
  let callers: (Caller | undefined)[];

  beforeEach(() => {
    clock = createFakeClock();
    callers = [];
    const endLogin = async (_: unknown, { caller }: { caller?: Caller | undefined }) => {
      callers.push(caller);
      return { endSessionUrl: '' };
    };
    const context = { serviceSecret: SECRET, clock };
    endpoint = fakeEndpoint(AuthServiceDefinition, { endLogin }, 'edge', context);
  });

  const show = (passport: string) =>
    endpoint.unary(
      'endLogin',
      { login: '' },
      { passport, trace: undefined, requestId: undefined, timeoutMs: undefined },
      new AbortController().signal,
    );
  const issued = (caller: Caller | undefined, peer = 'edge') => createIssuer(peer, SECRET, clock)(caller);

  it('says who calls for whom', async () => {
    const caller = { ...ALICE, credential: 'tok_1', address: '203.0.113.9' };
    await show(issued(caller));
    await show(issued(undefined));
    expect(callers).toEqual([caller, undefined]);
  });

  it('is good for a minute, also where it was good before', async () => {
    const passport = issued(ALICE);
    await show(passport);
    clock.advance(MINUTE_MS - 1);
    await show(passport);
    clock.advance(1);
    await expect(show(passport)).rejects.toMatchObject({ code: 'PEER_REJECTED' });
  });

  it.each<[string, (text: string) => string]>([
    ['is none', () => ''],
    ['has no signature', (text) => `${text.split('.')[0]}.`],
    ['has the signature of another', (text) => `${encoded(told(ROOT))}.${text.split('.')[1]}`],
    ['is signed by somebody else', () => signed(encoded(told(ROOT)), 'a secret of their own')],
    ['is signed with nothing', () => signed(encoded(told(ROOT)), '')],
    ['is signed in another way', () => signed(encoded(told(ROOT)), SECRET, 'sha512')],
    ['is cut off', (text) => text.slice(0, -1)],
  ])('lets nobody in that %s', async (_, forge) => {
    await expect(show(forge(issued(ALICE)))).rejects.toMatchObject({ code: 'PEER_REJECTED' });
    expect(callers).toEqual([]);
  });

  it('of a service that may not call lets nobody in, whoever it calls for', async () => {
    await expect(show(issued(ROOT, 'runner'))).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(callers).toEqual([]);
  });

  it('is nobody’s who differs in anything, however often one is asked for', async () => {
    const client = createClient({
      contract: AuthServiceDefinition,
      transport: localTransport(endpoint),
      self: 'edge',
      secret: SECRET,
      clock,
    });
    const all: Caller[] = [
      ALICE,
      { ...ALICE, roles: ['member', 'administrator'] },
      { ...ALICE, roles: ['member administrator'] },
      { ...ALICE, groups: ['red', 'blue'] },
      { ...ALICE, groups: ['red,blue'] },
      { ...ALICE, credential: 'tok_1' },
      { ...ALICE, address: 'tok_1' },
    ];
    for (const caller of [...all, ...all]) await client.endLogin({ login: '' }, { caller });
    expect(callers).toEqual([...all, ...all]);
  });

  function told(caller: Caller) {
    return { peer: 'edge', caller, expiresAt: clock.now().getTime() + MINUTE_MS };
  }
});
