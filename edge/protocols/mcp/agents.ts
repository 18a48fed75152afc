import { refuse } from '../../../lib/errors.ts';
import type { Agent } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { PageInfo } from '../../../proto/gen/ahs/common/v1/common.ts';
import { checkPath } from '../../input/path.ts';
import { pageRequest } from '../../schemas/common.ts';
import { requireExposedAgent } from '../exposure.ts';
import type { McpOperation } from './operation.ts';

/** A page of the agents that the endpoint offers to the caller, newest first. */
export async function listExposedAgents(
  operation: McpOperation,
  query: { q?: string; limit?: number; cursor?: string },
): Promise<{ agents: Agent[]; page: PageInfo | undefined }> {
  const { context, call, agentId } = operation;
  if (agentId !== undefined) return { agents: [await exposedAgent(operation, agentId)], page: undefined };
  return context.clients.agents.listAgents(
    { page: pageRequest(query), q: query.q ?? '', exposedTo: 'mcp' },
    call,
  );
}

/** An agent that the endpoint offers to the caller. Refuses with AGENT_NOT_FOUND. */
export async function exposedAgent(
  { context, call, agentId: only, agent }: McpOperation,
  agentId: string,
): Promise<Agent> {
  checkPath({ agent_id: agentId });
  if (only !== undefined && only !== agentId)
    throw refuse('AGENT_NOT_FOUND', 'Unknown agent. This endpoint has another one.');
  return agent ?? requireExposedAgent(context.clients, call, agentId, 'mcp');
}
