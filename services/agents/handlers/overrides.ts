import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { versionNotFound } from '../domain/agent.ts';
import { requireAcceptedMedia } from '../domain/model-media.ts';
import type { AgentsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'resolveOverrides'>;

/** The RPC that checks a message or conversation against the version of the agent that will answer it. */
export function overrideHandlers({ agents, assistants }: AgentsHandlerContext): Methods {
  return {
    async resolveOverrides({ agentId, agentVersion, sessionOverridesJson, mediaTypes }, call) {
      const found = isId('ast', agentId)
        ? await assistants.newestVersion(agentId, call)
        : await agents.version(agentId, agentVersion, call);
      if (!found) throw versionNotFound(agentVersion);
      requireAcceptedMedia(found.version.runtime.model, mediaTypes);
      return { overridesJson: sessionOverridesJson };
    },
  };
}
