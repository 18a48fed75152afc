import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../lib/grpc/client.ts';
import type { Caller } from '../../../lib/grpc/contract.ts';
import { localTransport } from '../../../lib/grpc/local.ts';
import { createServiceTokenIssuer } from '../../../lib/grpc/service-token.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { fakeEndpoint } from '../../support/fake-service.ts';

const SECRET = 'the shared secret of the services';
const MINUTE_MS = 60_000;
const ALICE: Caller = { userId: `usr_${'A'.repeat(26)}`, roles: ['member'], groups: ['red'] };
const ROOT: Caller = { userId: `usr_${'R'.repeat(26)}`, roles: ['member', 'administrator'], groups: [] };

const encoded = (token: object) => Buffer.from(JSON.stringify(token)).toString('base64url');
const signed = (payload: string, secret: string, hash = 'sha256') =>
  `${payload}.${createHmac(hash, secret).update(payload).digest('base64url')}`;

describe('service tokens', () => {
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

  const callWith = (serviceToken: string) =>
    endpoint.unary(
      'endLogin',
      { login: '' },
      { serviceToken, trace: undefined, requestId: undefined, timeoutMs: undefined },
      new AbortController().signal,
    );
  const issued = (caller: Caller | undefined, peer = 'edge') =>
    createServiceTokenIssuer(peer, SECRET, clock)(caller);

  it('carry the calling service and the user', async () => {
    const caller = { ...ALICE, credential: 'tok_1', address: '203.0.113.9' };
    await callWith(issued(caller));
    await callWith(issued(undefined));
    expect(callers).toEqual([caller, undefined]);
  });

  it('expire after one minute, also when they were verified before', async () => {
    const token = issued(ALICE);
    await callWith(token);
    clock.advance(MINUTE_MS - 1);
    await callWith(token);
    clock.advance(1);
    await expect(callWith(token)).rejects.toMatchObject({ code: 'PEER_REJECTED' });
  });

  it.each<[string, (text: string) => string]>([
    ['is empty', () => ''],
    ['has no signature', (text) => `${text.split('.')[0]}.`],
    ['has the signature of another token', (text) => `${encoded(payloadFor(ROOT))}.${text.split('.')[1]}`],
    ['is signed with another secret', () => signed(encoded(payloadFor(ROOT)), 'a secret of their own')],
    ['is signed with an empty secret', () => signed(encoded(payloadFor(ROOT)), '')],
    ['is signed with another algorithm', () => signed(encoded(payloadFor(ROOT)), SECRET, 'sha512')],
    ['is truncated', (text) => text.slice(0, -1)],
    ['has a third part', (text) => `${text}.${text.split('.')[1]}`],
    ['has another alphabet than base64url', (text) => text.replace('.', '+.')],
    ['is longer than any header', () => signed('A'.repeat(70_000), SECRET)],
    ['contains no JSON', () => signed(Buffer.from('edge').toString('base64url'), SECRET)],
    ['contains no service', () => signed(encoded({ expiresAt: Number.MAX_SAFE_INTEGER }), SECRET)],
    ['contains no time', () => signed(encoded({ peer: 'edge' }), SECRET)],
    ['contains a user without id', () => signed(encoded({ ...payloadFor(ALICE), caller: {} }), SECRET)],
  ])('refuse a token that %s', async (_, forge) => {
    await expect(callWith(forge(issued(ALICE)))).rejects.toMatchObject({ code: 'PEER_REJECTED' });
    expect(callers).toEqual([]);
  });

  it('refuse a call of an unauthorized service, also for an administrator', async () => {
    await expect(callWith(issued(ROOT, 'runner'))).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(callers).toEqual([]);
  });

  it('are cached separately for callers that differ in any member', async () => {
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

  function payloadFor(caller: Caller) {
    return { peer: 'edge', caller, expiresAt: clock.now().getTime() + MINUTE_MS };
  }
});
