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

/** A context window in tokens of the provider, input and answer together, and where it was found. */
export interface KnownWindow {
  window: number;
  /** A setting of the agent, the table of models, or a refusal of the provider. */
  windowSource: 'agent' | 'model' | 'provider';
}

interface WindowCandidates {
  ofAgent: number | undefined;
  declared: number | undefined;
  learned: number | undefined;
}

/**
 * Returns the context window that counts: the setting of the agent, else the table of models. A window that a refusal of the
 * provider has shown counts if it is smaller or the only one, because a longer request would be refused.
 */
export function chooseWindow({ ofAgent, declared, learned }: WindowCandidates): KnownWindow | undefined {
  const known = ofAgent ?? declared;
  if (learned !== undefined && (known === undefined || learned < known))
    return { window: learned, windowSource: 'provider' };
  if (known === undefined) return undefined;
  return { window: known, windowSource: ofAgent === undefined ? 'model' : 'agent' };
}
