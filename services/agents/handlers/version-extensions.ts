import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal } from '../../../lib/errors.ts';
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

/** How long the answer waits for the vaults service. */
const VAULTS_TIMEOUT_MS = 3_000;

interface AgentCredentials {
  variables: VersionVariable[];
  /** By the id of the server. */
  states: ReadonlyMap<string, string>;
  isUnavailable: boolean;
}

/** The current state of the MCP servers, skills and variables of an agent version, for its sessions. */
export function versionExtensionHandlers(context: AgentsHandlerContext): Methods {
  const { agents, assistants, mcpServers, skillExtensions, environments, vaults } = context;

  /** The answer of the vaults service. Undefined while it cannot be reached. */
  async function askVaults(request: GetAgentCredentialsRequest, options: CallOptions) {
    try {
      return await vaults.getAgentCredentials(request, { ...options, timeoutMs: VAULTS_TIMEOUT_MS });
    } catch (error) {
      if (error instanceof Refusal && ERRORS[error.code].retryable && !options.signal?.aborted)
        return undefined;
      throw error;
    }
  }

  /**
   * The variables that the vaults of an agent give to its sandboxes, with their state in an environment, and the state of the
   * credential for each server. Without the vaults service no variables are known.
   */
  async function credentialsOf(
    request: GetAgentCredentialsRequest,
    environmentId: string,
    options: CallOptions,
  ): Promise<AgentCredentials> {
    const [answer, environment] = await Promise.all([
      askVaults(request, options),
      environments.environment(environmentId || DEFAULT_ENVIRONMENT, options),
    ]);
    const stateOf = (authorization: string, index: number) =>
      answer ? (answer.serverStates[index] ?? '') : authorization === 'none' ? 'ready' : 'unavailable';
    const states = request.servers.map(
      ({ mcpServerId, authorization }, index) => [mcpServerId, stateOf(authorization, index)] as const,
    );
    const variables = sessionVariables(answer?.variables ?? [], environment?.spec);
    return { variables, states: new Map(states), isUnavailable: answer === undefined };
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
      if (!runtime) return { mcpServers: [], skills: [], variables: [], credentialsUnavailable: false };
      const { ids } = runtime.mcpServers;
      const pins = runtime.skills.items;
      const asService = { signal: call.signal, trace: call.trace };
      const details = await mcpServers.lookUp(ids, asService);
      const request = { agentId, ownerId, isTriggered, servers: details };
      const [servers, skills, { variables, states, isUnavailable }] = await Promise.all([
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
        credentialsUnavailable: isUnavailable,
      };
    },
  };
}

/** A server whose tools are not called needs no credential. */
function sessionState(state: string, credential: string | undefined): string {
  const isCalled = state === 'ready' || state === 'changed';
  return isCalled && credential !== undefined && credential !== 'ready' ? credential : state;
}
