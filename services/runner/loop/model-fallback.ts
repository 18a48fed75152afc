import type { ModelMessage } from 'ai';
import type { ModelFailure } from '../models/failure.ts';
import type { ModelOutages, OutageReason } from '../models/model-outages.ts';
import type { Model, Models } from '../models/registry.ts';
import { partsOf, referenceIn } from '../parts/reference.ts';
import type { TurnRuntime } from './agent-runtime.ts';

/**
 * The end of a model's retries in a turn whose agent has further models, as `model.request_finished` describes it; now, or in an
 * earlier turn because of which this one has begun with another model.
 */
export interface ModelFallback {
  reason: OutageReason;
  /** The model with which the turn continues; null when none is left. */
  to: string | null;
  skipped: { model: string; reason: string }[];
}

/** Returns the settings of a turn that continues with another model of the agent's list. */
function withModel(runtime: TurnRuntime, name: string): TurnRuntime {
  const { model, options } = runtime;
  if (name === model) return runtime;
  // Options of one provider mean nothing to another one, which can refuse them.
  const isSameProvider = providerOf(name) === providerOf(model);
  return {
    ...runtime,
    model: name,
    options: isSameProvider ? options : { ...options, providerOptions: {} },
  };
}

interface BegunTurn {
  turnId: string;
  /** The model to which the turn has fallen back; undefined for none. */
  fallbackModel?: string | undefined;
  /** The model of the turn's newest answer; undefined without one. */
  answeredBy: string | undefined;
  /** Consecutive failures of the turn. */
  failures: number;
  messages: readonly ModelMessage[];
}

/** With more failures the turn keeps its model, so that another one is left enough retries. */
const MOVING_FAILURES = 1;

/**
 * Chooses the model of an attempt: the one that the turn has already, or the first one. While that has an outage, the turn begins
 * with the next model that can run it. `fallback` is then the reason.
 */
export function beginWithModel(
  runtime: TurnRuntime,
  { turnId, fallbackModel, answeredBy, failures, messages }: BegunTurn,
  { models, outages }: { models: Models; outages: ModelOutages },
): { runtime: TurnRuntime; fallback?: ModelFallback } {
  const names = runtime.models?.names ?? [];
  const position = (name = '') => names.indexOf(name);
  const begunWith = outages.begunWith(turnId);
  const own = Math.max(position(runtime.model), ...[fallbackModel, answeredBy, begunWith].map(position));
  const name = names[own];
  if (name === undefined || names.length < 2) return { runtime };
  const reason = failures > MOVING_FAILURES ? undefined : outages.avoid(name);
  const fallback = reason && nextModel(reason, own, { names, runtime, messages }, models, outages);
  const chosen = fallback?.to ?? name;
  outages.begin(turnId, chosen);
  const begun = withModel(runtime, chosen);
  return fallback?.to ? { runtime: begun, fallback } : { runtime: begun };
}

/** `to` is null when no further model can run the turn without an outage. */
function nextModel(
  reason: OutageReason,
  own: number,
  { names, runtime, messages }: { names: string[]; runtime: TurnRuntime; messages: readonly ModelMessage[] },
  models: Models,
  outages: ModelOutages,
): ModelFallback {
  const fallback: ModelFallback = { reason, to: null, skipped: [] };
  for (const name of names.slice(own + 1)) {
    const lack = lackOf(models(name), runtime, messages) ?? (outages.avoid(name) && 'outage');
    if (lack === undefined) return { ...fallback, to: name };
    fallback.skipped.push({ model: name, reason: lack });
  }
  return fallback;
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
  if (
    !isLastFailure(failures, { isRetryable }, maxFailures) ||
    !names.includes(runtime.model) ||
    others.length === 0
  )
    return undefined;
  const fallback: ModelFallback = { reason: { code, message }, to: null, skipped: [] };
  for (const name of others) {
    const reason = lackOf(models(name), runtime, messages);
    if (reason === undefined) return { ...fallback, to: name };
    fallback.skipped.push({ model: name, reason });
  }
  return fallback;
}

/** Whether a failure ends the retries of a model. A sessions service of an older release does not tell their number. */
export function isLastFailure(
  failures: number,
  { isRetryable }: Pick<ModelFailure, 'isRetryable'>,
  maxFailures: number | undefined,
): boolean {
  return isRetryable && maxFailures !== undefined && failures >= maxFailures;
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
