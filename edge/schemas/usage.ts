import type { Usage } from '../../proto/gen/ahs/sessions/v1/sessions.ts';

/** The usage of a turn or a session as the API shows it. */
export function serializeUsage(usage: Usage | undefined) {
  return {
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    cached_input_tokens: usage?.cachedInputTokens ?? 0,
    cache_write_tokens: usage?.cacheWriteTokens ?? 0,
    reasoning_tokens: usage?.reasoningTokens ?? 0,
    estimated: usage?.estimated ?? false,
    steps: usage?.steps ?? 0,
    tool_calls: usage?.toolCalls ?? 0,
    active_seconds: (usage?.activeMs ?? 0) / 1_000,
  };
}

/** The usage in a record of a turn, as JSON text. Records of older releases have no details. Null for none. */
export function serializeRecordedUsage(json: string) {
  if (json === '') return null;
  const { steps, tool_calls, active_seconds, ...tokens } = serializeUsage(undefined);
  const recorded: object = JSON.parse(json);
  return { ...tokens, ...recorded };
}
