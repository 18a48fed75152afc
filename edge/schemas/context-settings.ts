import { type Static, Type } from 'typebox';
import type { ContextSettings as ContextMessage } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { closed, optional, text } from './common.ts';

export const ContextSettings = closed(
  {
    strategy: optional(
      Type.Enum(['summarize', 'drop_tool_results', 'none'], {
        description:
          'How a history that becomes too long is shortened for the model. `summarize` (default): large tool results become ' +
          'references to files, and then older messages become a summary. `drop_tool_results`: large tool results become ' +
          'references to files, and then the oldest messages are left out. `none`: the turn fails with `model_context_exceeded`.',
      }),
    ),
    threshold: optional(
      Type.Number({
        minimum: 0.1,
        maximum: 0.95,
        description:
          'The part of the context window, less the maximum output, at which the history is shortened. Default: 0.8.',
      }),
    ),
    keep_turns: optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'The number of newest turns that stay as they are while they fit. Default: 3.',
      }),
    ),
    model: optional(
      text('The model that writes summaries. Default: the model of the turn.', {
        minLength: 1,
        maxLength: 200,
      }),
    ),
    instructions: optional(text('What a summary must keep.', { maxLength: 8_192 })),
    window: optional(
      Type.Integer({
        minimum: 1_000,
        maximum: 100_000_000,
        description:
          'The context window of the model in tokens. Default: the window in the table of models, or the one that the provider ' +
          'has named when it refused a request.',
      }),
    ),
  },
  {
    title: 'ContextSettings',
    description: 'How a long history is shortened for the model. An omitted member has its default.',
    examples: [{ strategy: 'summarize', threshold: 0.8 }],
  },
);

type ContextSettings = Static<typeof ContextSettings>;

export function contextMessage({ keep_turns: keepTurns, ...settings }: ContextSettings): ContextMessage {
  return { ...settings, keepTurns };
}

/** The members that are set. */
export function shownContext(message: ContextMessage | undefined): ContextSettings {
  const { strategy, keepTurns, ...settings } = message ?? {};
  return {
    ...settings,
    // The schema of responses admits only strategies of this release.
    strategy: strategy as ContextSettings['strategy'],
    keep_turns: keepTurns,
  };
}
