import type { SessionContext } from '../../../gen/index.ts';

/** Returns the used part of the context window in percent; undefined while one of the two is unknown. */
export function usedPercent({ estimated_tokens: used, window }: SessionContext): number | undefined {
  return used === null || window === null ? undefined : Math.round((100 * used) / Math.max(1, window));
}

/** Whether the next turn begins with a compaction. */
export const isAboveThreshold = ({ estimated_tokens: used, threshold_tokens: threshold }: SessionContext) =>
  used !== null && threshold !== null && used > threshold;

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
