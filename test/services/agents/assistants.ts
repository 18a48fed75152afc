import type { Assistant, CreateAssistantRequest } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type AgentsSystem, alice, RUNTIME } from './system.ts';

export const ABSENT_ASSISTANT = 'ast_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

/** A valid request. */
export function assistantRequest(overrides: Partial<CreateAssistantRequest> = {}): CreateAssistantRequest {
  return {
    name: 'Helper',
    description: '',
    runtime: RUNTIME,
    metadata: {},
    enabled: true,
    idempotencyKey: '',
    ...overrides,
  };
}

/** An update request with only the given fields. */
export function assistantChange(assistantId: string, members: object = {}) {
  return { assistantId, tools: undefined, budget: undefined, metadata: undefined, ...members };
}

export async function createdAssistant(
  { edge }: AgentsSystem,
  overrides: Partial<CreateAssistantRequest> = {},
  by = alice,
): Promise<Assistant> {
  const { assistant } = await edge.createAssistant(assistantRequest(overrides), by);
  if (!assistant) throw new Error('the answer holds no assistant');
  return assistant;
}
