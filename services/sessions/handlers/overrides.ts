import type { Call, Client } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { MessageOverrides } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { TurnSettings } from '../store/lists.ts';
import { requireSingleLineJson } from './json.ts';

/**
 * Returns the overrides in force as JSON text, undefined for none. The agents service checks them against the agent
 * version and merges them with those of the session.
 */
export async function resolveOverrides(
  agents: Pick<Client<AgentsServiceDefinition>, 'resolveOverrides'>,
  { agent_id: agentId, agent_version: agentVersion, overrides }: TurnSettings,
  given: MessageOverrides,
  call: Call,
): Promise<string | undefined> {
  const { overridesJson } = await agents.resolveOverrides(
    {
      agentId,
      agentVersion,
      sessionOverridesJson: overrides ?? '',
      overridesJson: given.json,
      mediaTypes: [],
    },
    call,
  );
  return overridesJson === '' ? undefined : requireSingleLineJson(overridesJson, 'overrides');
}
