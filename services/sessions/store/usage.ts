import type { Usage } from '../domain/state.ts';

/** The columns of the usage of a session. */
export interface UsageRow {
  input_tokens: number;
  output_tokens: number;
  steps: number;
  tool_calls: number;
  active_ms: number;
}

/** The columns of the usage of a turn, where they are selected together with those of its session. */
export type TurnUsageRow = { [Column in keyof UsageRow as `turn_${Column}`]: number };

export function usageOf(row: UsageRow): Usage {
  return {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    steps: row.steps,
    toolCalls: row.tool_calls,
    activeMs: row.active_ms,
  };
}

export function turnUsageOf(row: TurnUsageRow): Usage {
  return {
    inputTokens: row.turn_input_tokens,
    outputTokens: row.turn_output_tokens,
    steps: row.turn_steps,
    toolCalls: row.turn_tool_calls,
    activeMs: row.turn_active_ms,
  };
}
