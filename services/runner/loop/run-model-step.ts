import type { ModelMessage, TextPart } from 'ai';
import type { Clock } from '../../../lib/clock.ts';
import type { KnownWindow } from '../../../lib/context-settings.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { SchemaValidator } from '../../../lib/json-schema/validator.ts';
import type { Log } from '../../../lib/log.ts';
import type { Tracer } from '../../../lib/telemetry/tracer.ts';
import { toStorable } from '../../../lib/text.ts';
import { traceparent } from '../../../lib/trace.ts';
import type { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Event, Usage } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { publicTokens, UsageEstimate, usageOfStep } from '../context/step-usage.ts';
import { type ModelFailure, refusedModelKey, stepTimeout } from '../models/failure.ts';
import { type ContentPart, type ModelStepEnd, requestModelStep } from '../models/model-step.ts';
import type { Model } from '../models/registry.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import type { TurnRuntime } from './agent-runtime.ts';
import type { RemainingBudget } from './budget.ts';
import { cacheOptions } from './cache-options.ts';
import type { RunnerMetrics } from './metrics.ts';
import type { ModelFallback } from './model-fallback.ts';
import { toolCallsIn, toolUseEvent } from './model-step.ts';
import { beginModelStepSpan, endModelStepSpan } from './spans.ts';
import { FilesRefused, type StoredContentPart, storeFiles } from './store-files.ts';
import { type CheckedOutput, checkOutput, nativeSchemaOf, outputInstruction } from './structured-output.ts';

export interface ModelStepOptions {
  clock: Clock;
  ids: Ids;
  log: Log;
  tracer: Tracer;
  metrics: RunnerMetrics;
  validator: Pick<SchemaValidator, 'validate'>;
  /** Stores the images and files of answers. */
  files: Pick<Client<FilesServiceDefinition>, 'writeContents' | 'storeParts'>;
  stepTimeoutSeconds: number;
}

/** The state of a turn that changes from step to step. */
export interface ModelTurnState {
  runtime: TurnRuntime;
  model: Model;
  messages: ModelMessage[];
  /** The events that `messages` are built of, with the compactions of the history. */
  history: Event[];
  /** The seq of the newest event of the history that `messages` has. */
  newestSeq: number;
  /** `history` has all events of the turn. */
  isHistoryCurrent: boolean;
  /** The index of the message that began the turn. */
  ownMessage: number;
  budget: RemainingBudget;
  /** The longest answer, in tokens, for which the context window of the model has room. */
  outputLimit?: number;
  /** The context window of the model, if it is known, and the estimated tokens above which the history is shortened. */
  window?: KnownWindow | undefined;
  threshold?: number | undefined;
  /** Consecutive failures since the turn last made progress. */
  failures: number;
  /** Answers of this turn that do not match its output schema. */
  invalidOutputs: number;
  /** The model has the key of the agent in place of the operator's. */
  hasAgentKey?: boolean;
  /** The ids of all tool calls of the turn; the step adds its own. */
  callIds: Set<string>;
  /** Chooses the model with which the turn continues when this was the last failure of its model. */
  fallbackAfter(failure: ModelFailure, hasAgentKey: boolean): ModelFallback | undefined;
  /** Why the turn has begun with another model than its first one, until its first request has ended. */
  begunFallback?: ModelFallback | undefined;
}

export interface ModelStepRun {
  end: ModelStepEnd;
  /** The journaled message; undefined when it was discarded. */
  content: StoredContentPart[] | undefined;
  /** Undefined when the message is no answer, and without an output schema. */
  checked: CheckedOutput | undefined;
  /** The retries of the model are spent, and the agent has further models. */
  fallback?: ModelFallback | undefined;
}

/**
 * Runs one model step with the given messages and adds its events to the outbox. The output is one message. The message is kept when it is
 * complete or when the time budget ended; otherwise it is discarded, with an event if a part of it was reported. Rejects when
 * the images and files of the message cannot be stored.
 */
export async function runModelStep(
  turn: LeasedTurn,
  state: ModelTurnState,
  messages: ModelMessage[],
  options: ModelStepOptions,
): Promise<ModelStepRun> {
  const { outbox } = turn;
  const { runtime, model, budget, failures, invalidOutputs } = state;
  const { clock } = options;
  const { settings, providerOptions, maxOutputTokens: requested = model.maxOutputTokens } = runtime.options;
  const startedAt = clock.now().getTime();
  let firstTextAt: number | undefined;
  const textBlocks: string[] = [];

  const timeoutMs = options.stepTimeoutSeconds * 1_000;
  const cancelTimer = clock.after(timeoutMs, () => turn.stop('timeout'));
  const { outputLimit = Number.POSITIVE_INFINITY } = state;
  const maxOutputTokens = Math.min(budget.tokens, requested, outputLimit);
  const { telemetryName, optionsName, defaults, server } = model;
  const span = beginModelStepSpan(options.tracer, turn, { model, settings, maxOutputTokens });
  const prompt = { ...systemAndSchema(runtime, model), messages, tools: runtime.toolbox.definitions };
  const estimate = new UsageEstimate(prompt);
  outbox.beginModelRequest({ model: runtime.model }, () => ({
    model: runtime.model,
    startedAt: new Date(startedAt),
    usage: estimate.usage(),
  }));
  outbox.beginMessage(options.ids('msg'));
  const cache = cacheOptions(model, turn.claimed.sessionId, providerOptions);
  const request = {
    model: model.languageModel,
    ...prompt,
    maxOutputTokens,
    settings,
    cacheBreakpoints: cache.breakpoints,
    providerOptions: {
      [optionsName]: { ...defaults, ...cache.options, ...providerOptions },
      turn: { failures, invalidOutputs },
    },
    headers: server?.getsTraceContext ? { traceparent: traceparent(span.trace) } : undefined,
    signal: turn.signal,
    now: () => clock.now(),
  };
  const received = await requestModelStep(request, {
    textBegins: () => textBlocks.push(''),
    text(delta) {
      firstTextAt ??= clock.now().getTime();
      textBlocks.push((textBlocks.pop() ?? '') + delta);
      outbox.addText(delta, firstTextAt);
    },
    thinking: (text) => outbox.addThinking(text),
    generated: (piece, isReasoning) => estimate.add(piece, isReasoning),
  });
  cancelTimer();
  const usage = usageOfStep(received, estimate);
  const end = withUsage(state.hasAgentKey ? withAgentKey(received) : received, usage);
  const ttftMs = firstTextAt === undefined ? undefined : firstTextAt - startedAt;
  endModelStepSpan(span, turn, end, ttftMs);
  options.metrics.modelRequest({
    provider: telemetryName,
    model: runtime.model,
    end,
    isTimeout: turn.stopCause === 'timeout',
    durationMs: Math.max(0, clock.now().getTime() - startedAt),
    timeToFirstTextMs: ttftMs,
  });
  const answer = end.kind === 'finished' && isAnswer(end) ? end.content : undefined;
  const checked =
    runtime.outputSchema && answer && turn.stopCause !== 'lost'
      ? await checkOutput(runtime.outputSchema, answer, options.validator)
      : undefined;
  if (turn.stopCause === 'lost') return { end, content: undefined, checked };

  const isPartial = turn.stopCause === 'budget' && (firstTextAt !== undefined || outbox.hasBegunMessage);
  const partial = isPartial ? textBlocks.map(textPart) : undefined;
  const answered = end.kind === 'finished' ? journaledContent(end, state.callIds) : partial;
  const { content, failure } = await storeContent(answered, turn, options);
  if (isLost(turn)) return { end, content: undefined, checked };
  if (content) {
    const finishReason = end.kind === 'finished' ? end.finishReason : 'length';
    const message = { content, model: runtime.model, finish_reason: finishReason, ...checked };
    outbox.completeMessage(
      message,
      toolCallsIn(content).map((call) => toolUseEvent(call, runtime.toolbox)),
    );
  } else {
    outbox.discardMessage(failure === undefined ? discardReason(turn, end) : storeFailureCode(failure));
  }
  const failed = failureOf(turn, end, options);
  const fallback = failed && state.fallbackAfter(failed, state.hasAgentKey ?? false);
  const finished = {
    model: runtime.model,
    usage: publicTokens(usage),
    ttft_ms: ttftMs,
    duration_ms: Math.max(0, clock.now().getTime() - startedAt),
    is_error: end.kind !== 'finished',
    fallback: fallback ?? state.begunFallback,
  };
  outbox.finishModelRequest(finished, { ...usage, steps: content ? 1 : 0 });
  if (failure !== undefined) throw failure;
  if (end.kind === 'failed') logModelFailure(turn, runtime.model, end, options.log);
  return { end, content, checked, fallback };
}

/** The failure of the model; undefined when it has answered and when the turn was stopped for another reason. */
function failureOf(
  turn: LeasedTurn,
  end: ModelStepEnd,
  { stepTimeoutSeconds }: ModelStepOptions,
): ModelFailure | undefined {
  if (end.kind === 'failed') return end.failure;
  return end.kind === 'stopped' && turn.stopCause === 'timeout' ? stepTimeout(stepTimeoutSeconds) : undefined;
}

/** The budget of the turn also counts an answer without a report of its tokens. */
function withUsage(end: ModelStepEnd, { inputTokens, outputTokens }: Usage): ModelStepEnd {
  return end.kind === 'finished' ? { ...end, inputTokens, outputTokens } : end;
}

/** A refused key of an agent is a failure of its own, which administrators can fix. */
function withAgentKey(end: ModelStepEnd): ModelStepEnd {
  if (end.kind !== 'failed' || end.failure.refusedStatus === undefined) return end;
  return { ...end, failure: refusedModelKey(end.failure.refusedStatus) };
}

/** The content to journal, or the failure to store its images and files. Neither when there is no content. */
async function storeContent(
  received: ContentPart[] | undefined,
  { claimed, signal, span }: LeasedTurn,
  { files, clock }: ModelStepOptions,
): Promise<{ content?: StoredContentPart[]; failure?: unknown }> {
  if (!received) return {};
  const { sessionId, turnId, fence } = claimed;
  const lease = { sessionId, turnId, fence };
  try {
    const content = await storeFiles(received, { files, clock, lease, trace: span.trace, signal });
    return { content: content.length === 0 ? [textPart('')] : content };
  } catch (failure) {
    return { failure };
  }
}

/** Read again behind a pause. */
const isLost = ({ stopCause }: LeasedTurn) => stopCause === 'lost';

function storeFailureCode(failure: unknown): string {
  return failure instanceof FilesRefused ? failure.code : 'files_not_stored';
}

/** The output schema is a parameter of the request where the provider has a native mode for it. */
export function systemAndSchema({ system, outputSchema }: TurnRuntime, { outputMode }: Model) {
  const native = outputSchema && outputMode === 'native' ? nativeSchemaOf(outputSchema) : undefined;
  const instruction = outputSchema && !native ? outputInstruction(outputSchema) : '';
  return {
    system: [system, instruction].filter((text) => text !== '').join('\n\n') || undefined,
    outputSchema: native,
  };
}

/** Whether the turn ends with this message: it has no tool calls and was not filtered. */
function isAnswer({ finishReason, content }: Extract<ModelStepEnd, { kind: 'finished' }>): boolean {
  return finishReason !== 'content-filter' && toolCallsIn(content).length === 0;
}

/** Failures that an operator can fix. The session's owner sees the other ones in the outcome of the turn. */
const OPERATOR_FAILURES = new Set([
  'model_unauthorized',
  'model_key_missing',
  'model_quota_exhausted',
  'model_unreachable',
]);

function logModelFailure(
  turn: LeasedTurn,
  model: string,
  end: Extract<ModelStepEnd, { kind: 'failed' }>,
  log: Log,
): void {
  const { code } = end.failure;
  const fields = { ...turn.logFields, model, code, err: end.cause };
  if (code === 'model_error') log.error(fields, 'a model request failed unexpectedly');
  else if (OPERATOR_FAILURES.has(code))
    log.warn(fields, 'a model request failed; check the key and address of the model provider');
}

function textPart(text: string): TextPart {
  return { type: 'text', text };
}

/**
 * The content to journal. A filtered answer loses its tool calls. Some providers send duplicate or empty call ids, so
 * each call gets a unique id. Ids and names are also stored outside of JSON, where not every character is valid.
 */
function journaledContent(
  end: Extract<ModelStepEnd, { kind: 'finished' }>,
  callIds: Set<string>,
): ContentPart[] {
  if (end.finishReason === 'content-filter') return end.content.filter(({ type }) => type !== 'tool-call');
  for (const part of end.content) {
    if (part.type !== 'tool-call') continue;
    const id = toStorable(part.toolCallId) || 'call';
    part.toolName = toStorable(part.toolName);
    part.toolCallId = id;
    for (let suffix = 2; callIds.has(part.toolCallId); suffix++) part.toolCallId = `${id}_${suffix}`;
    callIds.add(part.toolCallId);
  }
  return end.content;
}

function discardReason(turn: LeasedTurn, end: ModelStepEnd): string {
  if (end.kind === 'failed') return end.failure.code;
  return turn.stopCause === 'timeout' ? 'model_timeout' : 'runner_stopping';
}
