/** How long histories are shortened for the model. */
export interface ContextRules {
  strategy: 'summarize' | 'drop_tool_results' | 'none';
  /** The part of the longest input at which the history is shortened. */
  threshold: number;
  /** The newest turns that stay as they are while they fit. */
  keepTurns: number;
  /** The model that writes summaries. Undefined for the model of the turn. */
  model: string | undefined;
  /** What a summary must keep; empty for nothing in particular. */
  instructions: string;
  /** The context window in tokens. Undefined for that of the model. */
  window: number | undefined;
}

/** The settings as an agent version has them. */
interface ContextSettings {
  strategy?: string | undefined;
  threshold?: number | undefined;
  keepTurns?: number | undefined;
  model?: string | undefined;
  instructions?: string | undefined;
  window?: number | undefined;
}

/** Larger results of tools become references to files, the oldest first. */
export const LARGE_RESULT_BYTES = 8 * 1024;

const DEFAULT_THRESHOLD = 0.8;
const DEFAULT_KEEP_TURNS = 3;

/** The settings of an agent with their defaults. */
export function contextRules(settings: ContextSettings | undefined): ContextRules {
  const { strategy, threshold, keepTurns, model, instructions, window } = settings ?? {};
  return {
    strategy: strategy === 'drop_tool_results' || strategy === 'none' ? strategy : 'summarize',
    threshold: threshold ?? DEFAULT_THRESHOLD,
    keepTurns: keepTurns ?? DEFAULT_KEEP_TURNS,
    model,
    instructions: instructions ?? '',
    window,
  };
}
