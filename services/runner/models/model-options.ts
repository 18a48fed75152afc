import type { JSONObject } from '@ai-sdk/provider';
import type { ModelSettings } from './model-step.ts';

export interface ParsedModelOptions {
  settings: ModelSettings;
  /** Undefined when the agent sets no limit. */
  maxOutputTokens: number | undefined;
  /** Options under the names of the provider. */
  providerOptions: JSONObject;
}

/**
 * Splits the `model_options` of an agent into the options that have the same meaning for every model and those of the
 * provider. The agents service has checked the types; a value of another type is ignored.
 */
export function parseModelOptions(options: JSONObject): ParsedModelOptions {
  const {
    temperature,
    top_p,
    top_k,
    presence_penalty,
    frequency_penalty,
    stop_sequences,
    seed,
    max_output_tokens,
    ...providerOptions
  } = options;
  const settings: ModelSettings = {
    temperature: number(temperature),
    topP: number(top_p),
    topK: number(top_k),
    presencePenalty: number(presence_penalty),
    frequencyPenalty: number(frequency_penalty),
    stopSequences: texts(stop_sequences),
    seed: number(seed),
  };
  return { settings, maxOutputTokens: number(max_output_tokens), providerOptions };
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
}
