import type { Usage } from '../../proto/gen/ahs/sessions/v1/sessions.ts';

/** The usage of a turn or a session as the API shows it. */
export function serializeUsage(usage: Usage | undefined) {
  return {
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    steps: usage?.steps ?? 0,
    tool_calls: usage?.toolCalls ?? 0,
    active_seconds: (usage?.activeMs ?? 0) / 1_000,
  };
}
