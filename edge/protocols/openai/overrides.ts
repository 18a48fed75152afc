import type { Agent } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { MessageOverrides } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { overridesOf } from '../../schemas/overrides.ts';

/** What a request changes for its turn, and the names of its parameters that this agent ignores. */
export interface TurnOverrides {
  overrides: MessageOverrides | undefined;
  ignored: string[];
}

/**
 * The overrides of a request. Instructions are appended to the system prompt if the agent allows it, and otherwise have no
 * effect: chat clients send some with every request. `name` is their parameter.
 */
export function turnOverrides(
  agent: Agent,
  {
    instructions,
    name,
    outputSchema,
  }: { instructions?: string | undefined; name: string; outputSchema?: object | undefined },
): TurnOverrides {
  const overridable = agent.runtime?.overridable?.names ?? [];
  const isSystem = instructions !== undefined && overridable.includes('system');
  return {
    overrides: overridesOf({
      ...(isSystem && { system: { mode: 'append' as const, text: instructions } }),
      ...(outputSchema && { output_schema: outputSchema as Record<string, unknown> }),
    }),
    ignored: instructions !== undefined && !isSystem ? [name] : [],
  };
}
