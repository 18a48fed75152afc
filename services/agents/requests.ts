import type {
  CreateAgentRequest,
  CreateAssistantRequest,
  CreateEnvironmentRequest,
  UpdateAgentRequest,
  UpdateAssistantRequest,
  UpdateEnvironmentRequest,
} from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { EnvironmentForm, EnvironmentPatch } from './domain/environment.ts';
import type { Form } from './domain/form.ts';

/**
 * What a request to create says about the agent or assistant. A runtime that is missing is one without a model, and
 * is refused. Assistants are their owner's alone.
 */
export function formOf(request: CreateAgentRequest | CreateAssistantRequest): Form {
  const { name, description, metadata, enabled, runtime } = request;
  const visibility = 'visibility' in request ? request.visibility : 'private';
  return {
    name,
    description,
    metadata,
    enabled,
    visibility,
    model: runtime?.model ?? '',
    modelOptionsJson: runtime?.modelOptionsJson ?? '',
    system: runtime?.system ?? '',
    environmentId: runtime?.environmentId ?? '',
    tools: runtime?.tools ?? [],
    maxSteps: runtime?.maxSteps ?? 0,
    budget: runtime?.budget ?? {},
  };
}

/** What a request to update brings; absent members are undefined. */
export function patchOf(request: UpdateAgentRequest | UpdateAssistantRequest): Partial<Form> {
  const { name, description, enabled, model, modelOptionsJson, system } = request;
  const visibility = 'visibility' in request ? request.visibility : undefined;
  const { environmentId, maxSteps, budget } = request;
  return {
    name,
    description,
    metadata: request.metadata?.entries,
    enabled,
    visibility,
    model,
    modelOptionsJson,
    system,
    environmentId,
    tools: request.tools?.tools,
    maxSteps,
    budget,
  };
}

/** What a request to create says about the environment. Parts that are missing are empty, and are refused. */
export function environmentOf({ name, enabled, spec }: CreateEnvironmentRequest): EnvironmentForm {
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

/** What a request to update brings; absent parts are undefined. */
export function environmentPatchOf(request: UpdateEnvironmentRequest): EnvironmentPatch {
  const { sandbox, network, tenancy, idle, enabled } = request;
  return { sandbox, network, tenancy, idle, enabled, variables: request.variables?.entries };
}
