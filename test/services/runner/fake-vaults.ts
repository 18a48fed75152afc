import { createPeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import {
  type CredentialNeed,
  type LendRequest,
  type LendResult,
  type MissingCredential,
  type ModelKeyUser,
  type ReportRefusalRequest,
  VaultsServiceDefinition,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { fakeEndpoint } from '../../support/fake-service.ts';

/** The vaults service in memory: one credential, or none. */
export interface FakeVaults {
  endpoint: Endpoint;
  /** The token that is lent now; undefined: `missing` is the result. */
  token: string | undefined;
  /** shared | personal */
  source: string;
  missing: MissingCredential;
  /** Thrown by Lend while set. */
  failure: Error | undefined;
  /** The answer of ListModelKeyUsers. */
  modelKeyUsers: ModelKeyUser[];
  /** Thrown by ListModelKeyUsers while set. */
  listFailure: Error | undefined;
  /** The number of calls of ListModelKeyUsers. */
  lists: number;
  lends: LendRequest[];
  refusals: ReportRefusalRequest[];
  /** Called for each refusal before its response. */
  onRefusal: () => void;
}

const USABLE_MS = 60_000;

export function createFakeVaults(context: ServiceContext): FakeVaults {
  const sealer = createPeerSealer('vaults', context.serviceSecret);
  const resultOf = (
    method: 'lend' | 'reportRefusal',
    requestId: string | undefined,
    need: CredentialNeed | undefined,
  ): LendResult => {
    if (fake.token === undefined) return { result: { $case: 'missing', value: fake.missing } };
    const call = { contract: VaultsServiceDefinition, method, peer: 'runner', requestId };
    const content =
      need?.target?.$case === 'modelProvider'
        ? { headers: undefined, value: sealer.seal({ value: fake.token }, call) }
        : { headers: sealer.seal({ Authorization: `Bearer ${fake.token}` }, call), value: undefined };
    const usableUntil = new Date(context.clock.now().getTime() + USABLE_MS);
    const lent = {
      credentialId: 'crd_1',
      generation: fake.refusals.length + 1,
      source: fake.source,
      refreshable: false,
      usableUntil,
    };
    return { result: { $case: 'lent', value: { ...lent, ...content } } };
  };
  const handlers = {
    async lend(request: LendRequest, { requestId }: { requestId?: string | undefined }) {
      fake.lends.push(request);
      if (fake.failure) throw fake.failure;
      return { results: request.needs.map((need) => resultOf('lend', requestId, need)) };
    },
    async reportRefusal(request: ReportRefusalRequest, { requestId }: { requestId?: string | undefined }) {
      fake.refusals.push(request);
      fake.onRefusal();
      return { result: resultOf('reportRefusal', requestId, request.need) };
    },
    async listModelKeyUsers() {
      fake.lists++;
      if (fake.listFailure) throw fake.listFailure;
      return { users: fake.modelKeyUsers, isComplete: true };
    },
  };
  const fake: FakeVaults = {
    endpoint: fakeEndpoint(VaultsServiceDefinition, handlers, 'runner', context),
    token: undefined,
    source: 'shared',
    missing: { reason: 'none', credentialId: '', who: 'administrator', scopes: [] },
    failure: undefined,
    ...{ modelKeyUsers: [], listFailure: undefined, lists: 0 },
    lends: [],
    refusals: [],
    onRefusal: () => {},
  };
  return fake;
}
