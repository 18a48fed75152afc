import { type ContextRules, contextRules } from '../../../lib/context-settings.ts';
import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Call, CallOptions, Client } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SessionRow } from '../store/lists.ts';

interface AgentContext {
  /** The model of a turn without overrides. */
  model: string;
  rules: ContextRules;
}

/** The settings of the agent version of a session. Refuses with ASSISTANT_NOT_FOUND after the deletion of its assistant. */
export async function agentContext(
  agents: Pick<Client<AgentsServiceDefinition>, 'getAgentVersion'>,
  { agent_id: agentId, agent_version: version }: Pick<SessionRow, 'agent_id' | 'agent_version'>,
  call: Call,
): Promise<AgentContext> {
  try {
    const { version: found } = await agents.getAgentVersion({ agentId, version }, withoutCaller(call));
    const { model = '', context } = found?.runtime ?? {};
    return { model, rules: contextRules(context) };
  } catch (error) {
    const isMissing = error instanceof Refusal && error.code === 'AGENT_VERSION_NOT_FOUND';
    if (isMissing && isId('ast', agentId)) throw refuse('ASSISTANT_NOT_FOUND', 'The assistant is deleted.');
    throw error;
  }
}

/** A call as the service: users who may read a session do not always see its agent. */
export function withoutCaller({ trace, signal, deadline }: Call): CallOptions {
  return { trace, signal, deadline };
}
