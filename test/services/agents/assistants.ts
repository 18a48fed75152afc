import type { Assistant, CreateAssistantRequest } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type AgentsUnderTest, alice, RUNTIME } from './open.ts';

export const ABSENT_ASSISTANT = 'ast_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

/** A request that is fine as it is. */
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

/** A change of one assistant that brings only what it is given. */
export function assistantChange(assistantId: string, members: object = {}) {
  return { assistantId, tools: undefined, budget: undefined, metadata: undefined, ...members };
}

export async function createdAssistant(
  { edge }: AgentsUnderTest,
  overrides: Partial<CreateAssistantRequest> = {},
  by = alice,
): Promise<Assistant> {
  const { assistant } = await edge.createAssistant(assistantRequest(overrides), by);
  if (!assistant) throw new Error('the answer holds no assistant');
  return assistant;
}
