import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { DEFAULT_ENVIRONMENT, usable } from '../domain/environment.ts';
import { checkSearch } from '../domain/form.ts';
import { found, runnable, versionNotFound } from '../domain.ts';
import type { HandlerContext } from './context.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  'getAgentVersion' | 'resolveAgent' | 'resolveEnvironment' | 'lookUpAgents' | 'listManagedAgents'
>;

/** What others ask before they start something, and while it runs. */
export function startHandlers({ agents, assistants, environments }: HandlerContext): Methods {
  return {
    async getAgentVersion({ agentId, version }, call) {
      const store = isId('ast', agentId) ? assistants : agents;
      // For a user it is as little there as its agent.
      const isHidden = call.caller && !(await store.level(viewerOf(call), agentId, call));
      if (isHidden) throw versionNotFound(version);
      if (store === assistants) {
        // Nothing more starts with an assistant that is deleted, in whatever session.
        const newest = version === 0 ? await assistants.runtime(agentId, call) : undefined;
        if (!newest) throw versionNotFound(version);
        return { version: { ...newest, version: 0 } };
      }
      const known =
        version === 0 ? await agents.runtime(agentId, call) : await agents.version(agentId, version, call);
      if (!known) throw versionNotFound(version);
      return { version: known };
    },

    async resolveAgent({ agentId }, call) {
      const isAssistant = isId('ast', agentId);
      const { kind, standing } = isAssistant ? assistants : agents;
      const version = runnable(found(await standing(viewerOf(call), agentId, call), kind), kind);
      return { agentId, version: isAssistant ? 0 : version };
    },

    async resolveEnvironment({ environmentId }, call) {
      const environment = await environments.environment(environmentId || DEFAULT_ENVIRONMENT, call);
      return { environment: usable(environment) };
    },

    async listManagedAgents(_, call) {
      return { agentIds: await agents.managed(viewerOf(call), call) };
    },

    async lookUpAgents({ agentIds, nameContains }, call) {
      checkSearch(nameContains);
      return { agents: await agents.names(viewerOf(call), agentIds, nameContains, call) };
    },
  };
}
