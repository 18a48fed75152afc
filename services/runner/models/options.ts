import type { JSONObject } from '@ai-sdk/provider';
import type { StepSettings } from './step.ts';

export interface StepOptions {
  settings: StepSettings;
  /** Undefined when the agent does not say. */
  maxOutputTokens: number | undefined;
  /** What only the provider understands, by its own names. */
  own: JSONObject;
}

/**
 * Parts an agent's `model_options`: those that mean the same to every model, by the names of the API, and the
 * provider's own. They were checked when the agent was made.
 */
export function readOptions(options: JSONObject): StepOptions {
  const {
    temperature,
    top_p,
    top_k,
    presence_penalty,
    frequency_penalty,
    stop_sequences,
    seed,
    max_output_tokens,
    ...own
  } = options;
  const settings: StepSettings = {
    temperature: number(temperature),
    topP: number(top_p),
    topK: number(top_k),
    presencePenalty: number(presence_penalty),
    frequencyPenalty: number(frequency_penalty),
    stopSequences: texts(stop_sequences),
    seed: number(seed),
  };
  return { settings, maxOutputTokens: number(max_output_tokens), own };
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
}
