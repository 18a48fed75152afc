import type { SessionContext } from '../../../gen/index.ts';
import { isAboveThreshold } from './context-figures.ts';

/** Describes the used part: "About 48,200 of 200,000 tokens." */
export function usedText({ estimated_tokens: used, window }: SessionContext): string {
  if (used === null)
    return window === null
      ? 'Unknown before the next request.'
      : `Window of ${tokens(window)} tokens. The used part is unknown before the next request.`;
  if (window === null) return `About ${tokens(used)} tokens. The context window of the model is unknown.`;
  return `About ${tokens(used)} of ${tokens(window)} tokens.`;
}

/** Describes when the history is shortened. */
export function thresholdText(context: SessionContext): string | undefined {
  const { strategy, threshold_tokens: threshold } = context;
  if (strategy === 'none') return 'The conversation is never shortened. A longer turn fails.';
  if (threshold === null) return undefined;
  if (isAboveThreshold(context)) return 'The next turn begins with shortening the conversation.';
  return `Above ${tokens(threshold)} tokens, the conversation is shortened for the model.`;
}

export const SOURCES: Record<NonNullable<SessionContext['window_source']>, string> = {
  agent: 'The window is set in the agent.',
  model: 'The window is that of the table of models.',
  provider: 'The window is the one that the provider has shown.',
};

export const tokens = (count: number): string => count.toLocaleString('en');
