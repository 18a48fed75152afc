import type { OpenModelRequest, Usage } from '../domain/state.ts';

/** The columns of the usage of a session. */
export interface UsageRow {
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  estimated: boolean;
  steps: number;
  tool_calls: number;
  active_ms: number;
}

/** The columns of the usage of a turn, where they are selected together with those of its session. */
export type TurnUsageRow = { [Column in keyof UsageRow as `turn_${Column}`]: UsageRow[Column] };

export function usageOf(row: UsageRow): Usage {
  return {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cachedInputTokens: row.cached_input_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    reasoningTokens: row.reasoning_tokens,
    estimated: row.estimated,
    steps: row.steps,
    toolCalls: row.tool_calls,
    activeMs: row.active_ms,
  };
}

export function turnUsageOf(row: TurnUsageRow): Usage {
  return {
    inputTokens: row.turn_input_tokens,
    outputTokens: row.turn_output_tokens,
    cachedInputTokens: row.turn_cached_input_tokens,
    cacheWriteTokens: row.turn_cache_write_tokens,
    reasoningTokens: row.turn_reasoning_tokens,
    estimated: row.turn_estimated,
    steps: row.turn_steps,
    toolCalls: row.turn_tool_calls,
    activeMs: row.turn_active_ms,
  };
}

/** The JSON text of the column `open_model_request`. */
export function openModelRequestJson(open: OpenModelRequest | null): string | null {
  return open && JSON.stringify(open);
}

export function readOpenModelRequest(json: string | null): OpenModelRequest | null {
  if (json === null) return null;
  const { startedAt, ...open } = JSON.parse(json) as Omit<OpenModelRequest, 'startedAt'> & {
    startedAt: string;
  };
  return { ...open, startedAt: new Date(startedAt) };
}
