import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { DEFAULT_ENVIRONMENT, usable } from '../domain/environment.ts';
import { checkSearch } from '../domain/form.ts';
import { found, runnable, versionNotFound } from '../domain.ts';
import type { HandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  'getAgentVersion' | 'resolveAgent' | 'resolveEnvironment' | 'lookUpAgents'
>;

/** What others ask before they start something, and while it runs. */
export function startHandlers({ agents, assistants, environments }: HandlerContext): Methods {
  return {
    async getAgentVersion({ agentId, version }, call) {
      const owner = call.caller?.userId;
      if (isId('ast', agentId)) {
        // Nothing more starts with an assistant that is deleted, in whatever session.
        const newest = version === 0 ? await assistants.runtime(owner, agentId, call) : undefined;
        if (!newest) throw versionNotFound(version);
        return { version: { ...newest, version: 0 } };
      }
      const known =
        version === 0
          ? await agents.runtime(owner, agentId, call)
          : await agents.version(owner, agentId, version, call);
      if (!known) throw versionNotFound(version);
      return { version: known };
    },

    async resolveAgent({ agentId }, call) {
      const { userId } = callerOf(call);
      const isAssistant = isId('ast', agentId);
      const { kind, standing } = isAssistant ? assistants : agents;
      const version = runnable(found(await standing(userId, agentId, call), kind), kind);
      return { agentId, version: isAssistant ? 0 : version };
    },

    async resolveEnvironment({ environmentId }, call) {
      const environment = await environments.environment(environmentId || DEFAULT_ENVIRONMENT, call);
      return { environment: usable(environment) };
    },

    async lookUpAgents({ agentIds, nameContains }, call) {
      const { userId } = callerOf(call);
      checkSearch(nameContains);
      return { agents: await agents.names(userId, agentIds, nameContains, call) };
    },
  };
}
