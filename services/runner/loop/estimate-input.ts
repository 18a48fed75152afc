import { estimateTextTokens } from '../../../lib/token-estimate.ts';
import { estimateToolTokens } from '../context/estimate-tokens.ts';
import type { Model } from '../models/registry.ts';
import { type ModelTurnState, systemAndSchema } from './run-model-step.ts';

/** Estimates the tokens of the system prompt and of the tools of the next request. */
export function estimateFixed({ runtime }: Pick<ModelTurnState, 'runtime'>, model: Model): number {
  const { system } = systemAndSchema(runtime, model);
  return estimateTextTokens(system ?? '') + estimateToolTokens(runtime.toolbox.definitions);
}
