import type { TurnState, Usage } from './state.ts';

export function traceFields(turn: TurnState) {
  return { turnId: turn.turnId, traceparent: turn.traceparent ?? undefined };
}

/** The usage of a turn as its events and the API show it. */
export function publicUsage(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
    estimated: usage.estimated,
    steps: usage.steps,
    tool_calls: usage.toolCalls,
    active_seconds: usage.activeMs / 1_000,
  };
}
