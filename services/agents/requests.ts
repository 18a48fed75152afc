import type { CreateAgentRequest, UpdateAgentRequest } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { Form } from './domain/form.ts';

/** What a request to create says about the agent. A runtime that is missing is one without a model, and is refused. */
export function formOf(request: CreateAgentRequest): Form {
  const { name, description, metadata, enabled, visibility, runtime } = request;
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
export function patchOf(request: UpdateAgentRequest): Partial<Form> {
  const { name, description, enabled, visibility, model, modelOptionsJson, system } = request;
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
