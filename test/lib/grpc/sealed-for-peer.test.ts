import { describe, expect, it } from 'vitest';
import { createPeerSealer, type SealedForPeer, secretsIn } from '../../../lib/grpc/sealed-for-peer.ts';
import { Secret } from '../../../lib/secret.ts';
import {
  type CreateCredentialRequest,
  VaultsServiceDefinition as Service,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { ALL_TRANSPORTS, connect, createContext } from '../../support/context.ts';
import { fakeEndpoint } from '../../support/fake-service.ts';

const context = createContext('');
const CANARY = 'canary ü of a bearer token';
const edge = createPeerSealer('edge', context.serviceSecret);
const vaults = createPeerSealer('vaults', context.serviceSecret);
const REQUEST = {
  contract: Service,
  method: 'createCredential',
  peer: 'vaults',
  requestId: 'req_1',
} as const;
const RECEIVED = { ...REQUEST, peer: 'edge' } as const;
const REJECTED = {
  code: 'PEER_REJECTED',
  message: 'A sealed member of the call cannot be opened.',
  details: [],
};

const sealed = () => edge.seal({ token: new Secret(CANARY) }, REQUEST);

function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('createPeerSealer', () => {
  it('opens a box of the peer as secrets', () => {
    const { token } = secretsIn(vaults.open(sealed(), RECEIVED));
    expect(token?.reveal()).toBe(CANARY);
  });

  it('opens nested values and bytes', () => {
    const value = { headers: [{ name: 'authorization', value: new Secret(CANARY) }], until: 5 };
    const opened = vaults.open(edge.seal(value, REQUEST), RECEIVED) as { headers: { value: Secret }[] };
    expect(opened.headers[0]?.value.reveal()).toBe(CANARY);
    expect(opened).toMatchObject({ until: 5 });
    const bytes = Buffer.from([0, 255, 128]);
    expect(vaults.openBytes(edge.sealBytes(bytes, REQUEST), RECEIVED)).toEqual(bytes);
  });

  it('seals the same value differently each time and without its text', () => {
    const [one, two] = [sealed(), sealed()];
    expect(one.box.equals(two.box)).toBe(false);
    expect(one.box.includes(CANARY)).toBe(false);
    expect(JSON.stringify(one)).not.toContain(CANARY);
  });

  it.each([
    ['another method', { ...RECEIVED, method: 'updateCredential' as const }],
    ['another request', { ...RECEIVED, requestId: 'req_2' }],
    ['a call without a request id', { ...RECEIVED, requestId: undefined }],
    ['a call of another peer', { ...RECEIVED, peer: 'agents' }],
  ])('refuses a box in %s', (_, call) => {
    expect(outcomeOf(() => vaults.open(sealed(), call))).toMatchObject(REJECTED);
  });

  it('refuses the request of a call as its response', () => {
    expect(outcomeOf(() => edge.open(sealed(), REQUEST))).toMatchObject(REJECTED);
  });

  it('refuses a box of another service secret and a box for another module', () => {
    const foreign = createPeerSealer('edge', 'another secret of the services');
    expect(outcomeOf(() => vaults.open(foreign.seal({}, REQUEST), RECEIVED))).toMatchObject(REJECTED);
    const toAgents = edge.seal({}, { ...REQUEST, peer: 'agents' });
    expect(outcomeOf(() => vaults.open(toAgents, RECEIVED))).toMatchObject(REJECTED);
  });

  it('refuses a box with any changed, removed or added byte, and an absent one', () => {
    const { box } = sealed();
    const changed = [...box.keys()].map((at) => {
      const copy = Buffer.from(box);
      copy[at]! ^= 1;
      return copy;
    });
    const truncated = [0, 1, 12, 27, 28, box.length - 1].map((length) => box.subarray(0, length));
    const boxes = [...changed, ...truncated, Buffer.concat([box, Buffer.of(0)])];
    const attempts: (SealedForPeer | undefined)[] = [undefined, ...boxes.map((one) => ({ box: one }))];
    for (const attempt of attempts)
      expect(outcomeOf(() => vaults.open(attempt, RECEIVED))).toMatchObject(REJECTED);
  });

  it.each([['[]'], ['"text"'], ['{"token":{}}'], ['not JSON']])(
    'refuses %s where secrets are expected',
    (text) => {
      const box = edge.sealBytes(Buffer.from(text), REQUEST);
      const error = outcomeOf(() => secretsIn(vaults.open(box, RECEIVED)));
      expect(error).toMatchObject(REJECTED);
      expect(String(error)).not.toContain(text);
    },
  );

  it('refuses to seal for a call without a request id', () => {
    expect(() => edge.seal({}, { ...REQUEST, requestId: undefined })).toThrow('has no request id');
  });
});

describe.each(ALL_TRANSPORTS)('a sealed member over %s', (transport) => {
  it('opens at the receiver, also when the call is repeated', async () => {
    const opened: string[] = [];
    const createCredential = async ({ secret }: CreateCredentialRequest, call: typeof RECEIVED) => {
      const { token } = secretsIn(
        vaults.open(secret, { ...REQUEST, peer: call.peer, requestId: call.requestId }),
      );
      opened.push(token?.reveal() ?? '');
      return { credential: undefined, replayed: false };
    };
    const endpoint = fakeEndpoint(Service, { createCredential: createCredential as never }, 'edge', context);
    await using connected = await connect(Service, endpoint, transport, context);
    const request: CreateCredentialRequest = {
      vaultId: 'vlt_1',
      label: '',
      type: 'bearer',
      mcpServerUrl: undefined,
      host: 'api.example.com',
      allowedHosts: [],
      public: undefined,
      expiresAt: undefined,
      secret: sealed(),
      idempotencyKey: '',
    };
    const client = connected.as('edge');
    await client.createCredential(request, { requestId: 'req_1' });
    await client.createCredential(request, { requestId: 'req_1' });
    expect(opened).toEqual([CANARY, CANARY]);
    const replayed = client.createCredential(request, { requestId: 'req_2' });
    await expect(replayed).rejects.toMatchObject(REJECTED);
  });
});
