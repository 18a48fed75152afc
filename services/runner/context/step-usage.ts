import { tokensOfBytes } from '../../../lib/token-estimate.ts';
import type { Usage } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ModelStepEnd } from '../models/model-step.ts';
import { addUsage, NO_USAGE } from '../queue/usage.ts';
import { type EstimatedPrompt, estimatePromptTokens } from './estimate-tokens.ts';

/** Estimates the usage of a model request from its prompt and from the output that has arrived. */
export class UsageEstimate {
  readonly #prompt: EstimatedPrompt;
  /** Estimated at the first use, because most requests end with a report of the provider. */
  #inputTokens: number | undefined;
  #bytes = 0;
  #reasoningBytes = 0;

  constructor(prompt: EstimatedPrompt) {
    this.#prompt = prompt;
  }

  /** Adds a piece of the output. */
  add(piece: string, isReasoning: boolean): void {
    const bytes = Buffer.byteLength(piece);
    this.#bytes += bytes;
    if (isReasoning) this.#reasoningBytes += bytes;
  }

  /** The usage up to now. The cached tokens are unknown, which is 0. */
  usage(): Usage {
    this.#inputTokens ??= estimatePromptTokens(this.#prompt);
    return addUsage(NO_USAGE, {
      inputTokens: this.#inputTokens,
      outputTokens: tokensOfBytes(this.#bytes),
      reasoningTokens: tokensOfBytes(this.#reasoningBytes),
      estimated: true,
    });
  }
}

/**
 * The usage of a request that has ended: as the provider has reported it; estimated when the answer was cut or has no report;
 * none when the provider refused the request or did not get it.
 */
export function usageOfStep(end: ModelStepEnd, estimate: UsageEstimate): Usage {
  if (end.kind !== 'finished') return end.hasBegun ? estimate.usage() : NO_USAGE;
  if (!end.hasUsage) return estimate.usage();
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = end;
  return addUsage(NO_USAGE, {
    inputTokens,
    outputTokens,
    cachedInputTokens: cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
  });
}

/** The tokens as events have them. */
export function publicTokens(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
    estimated: usage.estimated,
  };
}
