import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { versionNotFound } from '../domain/agent.ts';
import { requireAcceptedMedia } from '../domain/model-media.ts';
import { modelInForce, resolveOverrides } from '../domain/overrides.ts';
import type { AgentsHandlerContext } from './context.ts';
import { modelProvidersFor } from './model-providers.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'resolveOverrides'>;

/** The RPC that checks a message or conversation against the version of the agent that will answer it. */
export function overrideHandlers(context: AgentsHandlerContext): Methods {
  const { agents, assistants, modelTable } = context;
  return {
    async resolveOverrides({ agentId, agentVersion, mediaTypes, ...overrides }, call) {
      const found = isId('ast', agentId)
        ? await assistants.newestVersion(agentId, call)
        : await agents.version(agentId, agentVersion, call);
      if (!found) throw versionNotFound(agentVersion);
      const { runtime } = found.version;
      const providers = await modelProvidersFor(overrides, context, call);
      const resolved = resolveOverrides(runtime, overrides, providers);
      requireAcceptedMedia(modelTable, modelInForce(resolved, runtime), mediaTypes);
      return { overridesJson: Object.keys(resolved).length === 0 ? '' : JSON.stringify(resolved) };
    },
  };
}
