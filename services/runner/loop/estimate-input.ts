import type { ModelMessage } from 'ai';
import { estimateMessageTokens, estimateTextTokens, estimateToolTokens } from '../context/estimate-tokens.ts';
import type { Model } from '../models/registry.ts';
import { type ModelTurnState, systemAndSchema } from './run-model-step.ts';

/** Messages do not change. */
const known = new WeakMap<ModelMessage, number>();

/** Estimates the tokens of the system prompt and of the tools of the next request. */
export function estimateFixed({ runtime }: Pick<ModelTurnState, 'runtime'>, model: Model): number {
  const { system } = systemAndSchema(runtime, model);
  return estimateTextTokens(system ?? '') + estimateToolTokens(runtime.toolbox.definitions);
}

/** Estimates the tokens of messages. */
export function estimateMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + estimateOnce(message), 0);
}

function estimateOnce(message: ModelMessage): number {
  const tokens = known.get(message) ?? estimateMessageTokens(message);
  known.set(message, tokens);
  return tokens;
}
