import { refuse } from '../../../lib/errors.ts';
import { FieldProblems } from '../../../lib/field-problems.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import {
  type CredentialNeed,
  type LendResult,
  VaultsServiceDefinition,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import type { LendingResult } from '../lending/lender.ts';
import type { NamedUse } from '../lending/turn-need.ts';
import type { VaultsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<VaultsServiceDefinition>, 'lend' | 'reportEcho' | 'reportRefusal'>;

const MAX_NEEDS = 50;
const MAX_CHALLENGE_BYTES = 4 * 1_024;
/** Other statuses do not mean that a credential was refused. */
const REFUSING_STATUSES = [401, 403];
const RECEIVER = 'runner';

/** The RPCs for credentials of turns. Only runners use them, and their answers are sealed for runners. */
export function lendingHandlers({ lender, peerSealer }: VaultsHandlerContext): Methods {
  function resultMessage(result: LendingResult, method: 'lend' | 'reportRefusal', call: Call): LendResult {
    if (result.kind === 'missing') {
      const { scopes = [], ...missing } = result.missing;
      return { result: { $case: 'missing', value: { ...missing, scopes: [...scopes] } } };
    }
    const { content, ...lent } = result.lent;
    const sealedCall = { contract: VaultsServiceDefinition, method, peer: RECEIVER, ...requestOf(call) };
    const seal = (members: Record<string, string>) => peerSealer.seal(members, sealedCall);
    const sealed =
      'headers' in content
        ? { headers: seal(content.headers), value: undefined }
        : { headers: undefined, value: seal({ value: content.value }) };
    return { result: { $case: 'lent', value: { ...lent, ...sealed } } };
  }

  return {
    async lend({ lease, needs }, call) {
      requestOf(call);
      const problems = new FieldProblems();
      if (needs.length === 0 || needs.length > MAX_NEEDS)
        problems.add('/needs', `must have 1 to ${MAX_NEEDS} items`);
      problems.throwIfAny();
      const results = await lender.lend(lease, needs.map(useOf), withoutUser(call));
      return { results: results.map((result) => resultMessage(result, 'lend', call)) };
    },

    async reportRefusal({ lease, need, wwwAuthenticate, ...refusal }, call) {
      requestOf(call);
      const problems = new FieldProblems();
      if (!REFUSING_STATUSES.includes(refusal.status))
        problems.add('/status', `must be ${REFUSING_STATUSES.join(' or ')}`);
      if (Buffer.byteLength(wwwAuthenticate) > MAX_CHALLENGE_BYTES)
        problems.add('/www_authenticate', `must have at most ${MAX_CHALLENGE_BYTES} bytes`);
      problems.throwIfAny();
      const reported = { ...refusal, wwwAuthenticate, use: useOf(need) };
      const result = await lender.reportRefusal(lease, reported, withoutUser(call));
      return { result: resultMessage(result, 'reportRefusal', call) };
    },

    async reportEcho({ lease, ...echo }, call) {
      await lender.reportEcho(lease, echo, withoutUser(call));
      return {};
    },
  };
}

/** Returns the use of a need. An absent one is that of an MCP server that belongs to no agent version. */
function useOf(need: CredentialNeed | undefined): NamedUse {
  const { target } = need ?? {};
  switch (target?.$case) {
    case 'host':
      return { kind: 'host', host: target.value };
    case 'variable':
      return { kind: 'variable', ...target.value };
    case 'modelProvider':
      return { kind: 'model', provider: target.value };
    default:
      return { kind: 'server', mcpServerId: target?.value ?? '' };
  }
}

/** A response can be sealed only for a call with a request id. */
function requestOf({ requestId }: Call): { requestId: string } {
  if (requestId !== undefined) return { requestId };
  throw refuse('INVALID_REQUEST', 'The call needs a request id, for which its response is sealed.');
}

/** A turn acts for the owner of its session, whom only the sessions service names. */
function withoutUser(call: Call): Call {
  return { ...call, caller: undefined };
}
