import type { FieldProblems } from '../../../lib/field-problems.ts';
import { type ModelProviders, modelProblem } from './models.ts';

/** How long histories are shortened for the model. Absent members have their default. */
export interface ContextSettings {
  strategy?: string | undefined;
  /** The part of the context window, less the maximum output, at which the history is shortened. */
  threshold?: number | undefined;
  /** The newest turns that stay as they are while they fit. */
  keepTurns?: number | undefined;
  /** The model that writes summaries. */
  model?: string | undefined;
  instructions?: string | undefined;
  /** In tokens. */
  window?: number | undefined;
}

const STRATEGIES = ['summarize', 'drop_tool_results', 'none'];
const MAX_INSTRUCTIONS = 8_192;

export function checkContext(
  { strategy, threshold, keepTurns, model, instructions, window }: ContextSettings,
  problems: FieldProblems,
  providers: ModelProviders,
): void {
  if (strategy !== undefined) problems.oneOf('/context/strategy', strategy, STRATEGIES);
  if (threshold !== undefined && !(threshold >= 0.1 && threshold <= 0.95))
    problems.add('/context/threshold', 'must be a number from 0.1 to 0.95');
  if (keepTurns !== undefined) problems.range('/context/keep_turns', keepTurns, 1, 100);
  const problem = model === undefined ? undefined : modelProblem(model, providers);
  if (problem) problems.add('/context/model', problem);
  if (instructions !== undefined)
    problems.characters('/context/instructions', instructions, 0, MAX_INSTRUCTIONS);
  if (window !== undefined) problems.range('/context/window', window, 1_000, 100_000_000);
}

/** The members that are set, as JSON in a fixed order. */
export function contextToJson(settings: ContextSettings): string {
  const { strategy, threshold, keepTurns, model, instructions, window } = settings;
  return JSON.stringify({ strategy, threshold, keepTurns, model, instructions, window });
}

/** Reads the column of `contextToJson`. */
export function contextOfJson(column: unknown): ContextSettings {
  return { ...(column as ContextSettings) };
}
