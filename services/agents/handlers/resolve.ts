import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { requireFound, versionNotFound, versionToStart } from '../domain/agent.ts';
import { checkSearch } from '../domain/agent-form.ts';
import { DEFAULT_ENVIRONMENT, requireUsable } from '../domain/environment.ts';
import type { AgentsHandlerContext } from './context.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  'getAgentVersion' | 'resolveAgent' | 'resolveEnvironment' | 'lookUpAgents' | 'listManagedAgents'
>;

/** The RPCs for other services: versions, start conditions, names and environments. */
export function resolveHandlers({ agents, assistants, environments }: AgentsHandlerContext): Methods {
  return {
    async getAgentVersion({ agentId, version }, call) {
      const store = isId('ast', agentId) ? assistants : agents;
      // A version is as visible to a user as its agent.
      const isHidden = call.caller && !(await store.level(viewerOf(call), agentId, call));
      if (isHidden) throw versionNotFound(version);
      if (store === assistants) {
        // A deleted assistant has no current version, so no session can start a turn with it.
        const newest = version === 0 ? await assistants.newestVersion(agentId, call) : undefined;
        if (!newest) throw versionNotFound(version);
        return { ...newest, version: { ...newest.version, version: 0 } };
      }
      const found =
        version === 0
          ? await agents.newestVersion(agentId, call)
          : await agents.version(agentId, version, call);
      if (!found) throw versionNotFound(version);
      return found;
    },

    async resolveAgent({ agentId }, call) {
      const isAssistant = isId('ast', agentId);
      const { kind, startConditions } = isAssistant ? assistants : agents;
      const conditions = requireFound(await startConditions(viewerOf(call), agentId, call), kind);
      const version = versionToStart(conditions, kind);
      return { agentId, version: isAssistant ? 0 : version };
    },

    async resolveEnvironment({ environmentId }, call) {
      const environment = await environments.environment(environmentId || DEFAULT_ENVIRONMENT, call);
      return { environment: requireUsable(environment) };
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
