import { Type } from 'typebox';
import type { EventData } from '../../lib/events.ts';
import type { Event, GetSessionContextResponse } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { count, id, NULL, nullable, text, time } from './common.ts';

const tokens = (description: string, example: number) =>
  nullable(count(`${description} Null: unknown.`, example));

export const SessionContextShape = Type.Object(
  {
    model: text('The model of the next turn.', { examples: ['anthropic/claude-sonnet-4-5'] }),
    window: tokens('The context window in tokens: input and answer together.', 200_000),
    window_source: nullable(
      Type.Enum(['agent', 'model', 'provider'], {
        description:
          'Where the window comes from. `agent`: its setting `context.window`. `model`: the table of models. `provider`: a ' +
          'provider has named or shown it when it refused a request because of its length.',
      }),
    ),
    strategy: Type.Enum(['summarize', 'drop_tool_results', 'none'], {
      description: 'The setting of the agent.',
    }),
    threshold: Type.Number({
      description: 'The part of the window, less the maximum output, at which the history is shortened.',
      examples: [0.8],
    }),
    keep_turns: count('The number of newest turns that stay as they are.', 3),
    threshold_tokens: nullable(
      count('A longer request is shortened. Null: unknown, or the strategy is `none`.', 134_400),
    ),
    estimated_tokens: tokens('The input of the next request: all parts together.', 48_200),
    parts: Type.Object(
      {
        system: tokens('The system prompt.', 1_200),
        tools: tokens('The definitions of the tools.', 3_000),
        history: tokens('Messages, tool calls, results and the summary of earlier ones.', 42_400),
        files: tokens('Images and files in messages and results.', 1_600),
      },
      { description: 'The estimated tokens of the parts of the next request.' },
    ),
    last_compaction: nullable(
      Type.Object({
        seq: count('The seq of its `agent.context_compacted` event.', 310),
        turn_id: id('trn', 'the turn that has made it'),
        created_at: time('The time of the event.'),
        strategy: Type.Enum(['summarize', 'drop_tool_results', 'drop_turns'], {
          description: 'How the history was shortened.',
        }),
        tokens_before: count('The estimated input before it.', 150_000),
        tokens_after: count('The estimated input after it.', 40_000),
      }),
      NULL,
    ),
  },
  {
    title: 'SessionContext',
    description: 'What the model gets in the next turn of a session. Token counts are estimates.',
  },
);

export function serializeSessionContext(context: GetSessionContextResponse) {
  const parts = {
    system: context.systemTokens ?? null,
    tools: context.toolsTokens ?? null,
    history: context.historyTokens ?? null,
    files: context.filesTokens ?? null,
  };
  return {
    model: context.model,
    window: context.window ?? null,
    window_source: context.windowSource ?? null,
    strategy: context.strategy,
    threshold: context.threshold,
    keep_turns: context.keepTurns,
    threshold_tokens: context.thresholdTokens ?? null,
    estimated_tokens: sumOf(Object.values(parts)),
    parts,
    last_compaction: serializeCompaction(context.lastCompaction),
  };
}

/** Null if one of the numbers is. */
function sumOf(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((sum, number) => (sum === null || number === null ? null : sum + number), 0);
}

function serializeCompaction(event: Event | undefined) {
  if (!event) return null;
  const { seq, turn_id, created_at, data } = JSON.parse(event.json) as {
    seq: number;
    turn_id: string;
    created_at: string;
    data: EventData<'agent.context_compacted'>;
  };
  const { strategy, tokens_before, tokens_after } = data;
  return { seq, turn_id, created_at, strategy, tokens_before, tokens_after };
}
