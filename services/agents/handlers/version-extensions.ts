import type { CallOptions, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition, VersionVariable } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { GetAgentCredentialsRequest } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { DEFAULT_ENVIRONMENT } from '../domain/environment.ts';
import { extensionState } from '../domain/extensions.ts';
import { sessionVariables } from '../domain/session-variables.ts';
import { skillState } from '../domain/skill-extensions.ts';
import type { AgentsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'getVersionExtensions'>;

/** The current state of the MCP servers, skills and variables of an agent version, for its sessions. */
export function versionExtensionHandlers(context: AgentsHandlerContext): Methods {
  const { agents, assistants, mcpServers, skillExtensions, environments, vaults } = context;

  /**
   * The variables that the vaults of an agent give to its sandboxes, with their state in an environment, and the state of the
   * credential for each server.
   */
  async function credentialsOf(
    request: GetAgentCredentialsRequest,
    environmentId: string,
    options: CallOptions,
  ): Promise<{ variables: VersionVariable[]; states: ReadonlyMap<string, string> }> {
    const [{ variables, serverStates }, environment] = await Promise.all([
      vaults.getAgentCredentials(request, options),
      environments.environment(environmentId || DEFAULT_ENVIRONMENT, options),
    ]);
    const states = request.servers.map(
      ({ mcpServerId }, index) => [mcpServerId, serverStates[index] ?? ''] as const,
    );
    return { variables: sessionVariables(variables, environment?.spec), states: new Map(states) };
  }

  return {
    async getVersionExtensions({ agentId, version, ownerId, isTriggered }, call) {
      const store = isId('ast', agentId) ? assistants : agents;
      // A deleted assistant has no newest version, and its sessions cannot continue.
      const found =
        version === 0
          ? await store.newestVersion(agentId, call)
          : await store.version(agentId, version, call);
      const runtime = found?.version.runtime;
      if (!runtime) return { mcpServers: [], skills: [], variables: [] };
      const { ids } = runtime.mcpServers;
      const pins = runtime.skills.items;
      const asService = { signal: call.signal, trace: call.trace };
      const details = await mcpServers.lookUp(ids, asService);
      const request = { agentId, ownerId, isTriggered, servers: details };
      const [servers, skills, { variables, states }] = await Promise.all([
        mcpServers.extensions(ids, undefined, asService),
        skillExtensions.skills(
          pins.map(({ id }) => id),
          false,
          asService,
        ),
        credentialsOf(request, runtime.environmentId, asService),
      ]);
      const authorizations = new Map(details.map((one) => [one.mcpServerId, one.authorization]));
      const byId = new Map(skills.map((skill) => [skill.skillId, skill]));
      return {
        mcpServers: servers.map((server) => ({
          mcpServerId: server.mcpServerId,
          name: server.name,
          state: sessionState(extensionState(server), states.get(server.mcpServerId)),
          authorization: authorizations.get(server.mcpServerId) ?? '',
        })),
        skills: pins.map(({ id: skillId, name, version: pinned, description }) => {
          const skill = byId.get(skillId);
          return {
            ...{ skillId, name, version: pinned, description },
            newestVersion: skill?.newest ?? 0,
            state: skillState(skill),
          };
        }),
        variables,
      };
    },
  };
}

/** A server whose tools are not called needs no credential. */
function sessionState(state: string, credential: string | undefined): string {
  const isCalled = state === 'ready' || state === 'changed';
  return isCalled && credential !== undefined && credential !== 'ready' ? credential : state;
}
