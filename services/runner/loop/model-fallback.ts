import type { ModelMessage } from 'ai';
import type { ModelFailure } from '../models/failure.ts';
import type { Model, Models } from '../models/registry.ts';
import { partsOf, referenceIn } from '../parts/reference.ts';
import type { TurnRuntime } from './agent-runtime.ts';

/** The end of a model's retries in a turn whose agent has further models, as `model.request_finished` describes it. */
export interface ModelFallback {
  reason: { code: string; message: string };
  /** The model with which the turn continues; null when none is left. */
  to: string | null;
  skipped: { model: string; reason: string }[];
}

/** Returns the settings of a turn that continues with a model of the agent's list. Other names have no effect. */
export function withFallbackModel(runtime: TurnRuntime, name: string | undefined): TurnRuntime {
  const { model, models, options } = runtime;
  if (name === undefined || name === model || !models?.names.includes(name)) return runtime;
  // Options of one provider mean nothing to another one, which can refuse them.
  const isSameProvider = providerOf(name) === providerOf(model);
  return {
    ...runtime,
    model: name,
    options: isSameProvider ? options : { ...options, providerOptions: {} },
  };
}

interface FallbackState {
  runtime: TurnRuntime;
  messages: readonly ModelMessage[];
  /** Consecutive failures before this one. */
  failures: number;
}

/**
 * Returns the fallback after a failure of the model: undefined unless it was the last one of its retries and the agent has
 * further models. Only temporary failures have retries, so that a refused request never reaches another model.
 */
export function chooseFallback(
  { runtime, messages, failures }: FallbackState,
  { code, message, isRetryable }: ModelFailure,
  { models, maxFailures }: { models: Models; maxFailures: number | undefined },
): ModelFallback | undefined {
  const names = runtime.models?.names ?? [];
  const others = names.slice(names.indexOf(runtime.model) + 1);
  const isLast = isRetryable && maxFailures !== undefined && failures >= maxFailures;
  if (!isLast || !names.includes(runtime.model) || others.length === 0) return undefined;
  const fallback: ModelFallback = { reason: { code, message }, to: null, skipped: [] };
  for (const name of others) {
    const reason = lackOf(models(name), runtime, messages);
    if (reason === undefined) return { ...fallback, to: name };
    fallback.skipped.push({ model: name, reason });
  }
  return fallback;
}

/** Returns what a model lacks to continue the turn. Capabilities that are unknown are tried. */
function lackOf(
  model: Model | undefined,
  { toolbox, outputSchema }: TurnRuntime,
  messages: readonly ModelMessage[],
): string | undefined {
  if (!model) return 'unknown_model';
  const { tools, images, structuredOutput } = model.entry?.capabilities ?? {};
  if (tools === false && toolbox.definitions.length > 0) return 'tools';
  if (images === false && hasImages(messages)) return 'images';
  if (structuredOutput === false && outputSchema) return 'structured_output';
  return undefined;
}

function hasImages(messages: readonly ModelMessage[]): boolean {
  return messages.some((message) =>
    partsOf(message).some((part) => referenceIn(part)?.mediaType.startsWith('image/')),
  );
}

function providerOf(model: string): string {
  return model.slice(0, model.indexOf('/'));
}
