import { refuse } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import type { VaultsHandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<VaultsServiceDefinition>,
  'getSessionCredentials' | 'getAgentCredentials' | 'listModelKeyUsers'
>;

const MAX_SERVERS = 50;
/** About 220 KiB, which a runner decodes in a few milliseconds. */
const MAX_USERS = 5_000;

/** The RPCs that describe credentials without their secrets, for runners and for readers of sessions. */
export function sessionCredentialHandlers({ sessionCredentials, lendables }: VaultsHandlerContext): Methods {
  return {
    async getSessionCredentials({ lease }, call) {
      const { hosts, variables } = await sessionCredentials.ofTurn(lease, asService(call));
      return { hosts, variables };
    },

    async getAgentCredentials({ agentId, servers, ownerId, isTriggered }, call) {
      if (servers.length > MAX_SERVERS)
        throw refuse('INVALID_REQUEST', `At most ${MAX_SERVERS} MCP servers can be looked up at once.`);
      const session = { agentId, ownerId, isTriggered };
      const [credentials, serverStates] = await Promise.all([
        sessionCredentials.ofAgent(agentId, asService(call)),
        sessionCredentials.serverStates(session, servers, asService(call)),
      ]);
      return { ...credentials, serverStates };
    },

    async listModelKeyUsers(_, call) {
      const users = await lendables.modelKeyUsers(MAX_USERS + 1, asService(call));
      return { users: users.slice(0, MAX_USERS), isComplete: users.length <= MAX_USERS };
    },
  };
}

/** The callers have checked the rights of their user, who sees no shared vault. */
function asService(call: Call): Call {
  return { ...call, caller: undefined };
}
