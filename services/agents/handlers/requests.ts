import type {
  CreateAgentRequest,
  CreateAssistantRequest,
  CreateEnvironmentRequest,
  UpdateAgentRequest,
  UpdateAssistantRequest,
  UpdateEnvironmentRequest,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { AgentForm } from '../domain/agent-form.ts';
import { completeRuntime, runtimePatchIn } from '../domain/agent-runtime.ts';
import type { EnvironmentForm, EnvironmentPatch } from '../domain/environment.ts';

/**
 * The form of a request to create an agent or assistant. A missing runtime has no model, so the form's check refuses it.
 * Assistants are always private.
 */
export function agentFormOf(request: CreateAgentRequest | CreateAssistantRequest): AgentForm {
  const { name, description, metadata, enabled, runtime } = request;
  const visibility = 'visibility' in request ? request.visibility : 'private';
  return { name, description, metadata, enabled, visibility, ...completeRuntime(runtime) };
}

/** The patch of a request to update an agent or assistant; absent fields are undefined. */
export function agentPatchOf(request: UpdateAgentRequest | UpdateAssistantRequest): Partial<AgentForm> {
  const { name, description, enabled } = request;
  const metadata = request.metadata?.entries;
  const visibility = 'visibility' in request ? request.visibility : undefined;
  return { name, description, metadata, enabled, visibility, ...runtimePatchIn(request) };
}

/** The form of a request to create an environment. Missing parts are empty, so the form's check refuses them. */
export function environmentFormOf({ name, enabled, spec }: CreateEnvironmentRequest): EnvironmentForm {
  return {
    name,
    enabled,
    sandbox: spec?.sandbox ?? { provider: '', image: '', commandTimeoutSeconds: 0 },
    network: spec?.network ?? { mode: '', allowedHosts: [] },
    tenancy: spec?.tenancy ?? '',
    idle: spec?.idle ?? { timeoutSeconds: 0, action: '' },
    variables: spec?.variables ?? {},
  };
}

/** The patch of a request to update an environment; absent parts are undefined. */
export function environmentPatchOf(request: UpdateEnvironmentRequest): EnvironmentPatch {
  const { sandbox, network, tenancy, idle, enabled } = request;
  return { sandbox, network, tenancy, idle, enabled, variables: request.variables?.entries };
}
