import type { Attributes, Span, Tracer } from '../../../lib/telemetry/tracer.ts';
import { parseTraceparent, type Trace } from '../../../lib/trace.ts';
import type { ClaimedTurn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ModelSettings, ModelStepEnd } from '../models/model-step.ts';
import type { Model } from '../models/registry.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import type { ToolEnd } from '../tools/run-tool.ts';
import type { TurnRuntime } from './agent-runtime.ts';
import type { ToolCall } from './model-step.ts';

/*
 * The spans of turns. Names and attributes follow the conventions of OpenTelemetry for generative AI
 * (https://github.com/open-telemetry/semantic-conventions-genai/tree/main/docs/gen-ai). Spans hold no content of
 * messages.
 */

/** The span continues the trace of the request that queued the turn. The claim covers other turns, so it is a link. */
export function beginTurnSpan(tracer: Tracer, claimed: ClaimedTurn, claim: Trace | undefined): Span {
  const span = tracer.begin('invoke_agent', {
    parent: parseTraceparent(claimed.traceparent),
    links: claim ? [claim] : [],
  });
  if (span.silent) return span;
  span.set({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': claimed.agentId,
    'gen_ai.agent.version': String(claimed.agentVersion),
    'gen_ai.conversation.id': claimed.sessionId,
    'ahs.session_id': claimed.sessionId,
    'ahs.turn_id': claimed.turnId,
    'ahs.attempt': claimed.attempt,
  });
  return span;
}

/** Adds the facts that are known when the version of the agent is loaded. */
export function describeAgent(span: Span, { agentName }: TurnRuntime, model: Model | undefined): void {
  if (span.silent) return;
  if (agentName !== '') span.rename(`invoke_agent ${agentName}`);
  span.set({ 'gen_ai.agent.name': agentName || undefined, ...(model && modelAttributes(model)) });
}

/** The provider and the exact name of the model, without the prefix that selects the provider. */
function modelAttributes({ telemetryName, languageModel, server }: Model): Attributes {
  return {
    'gen_ai.provider.name': telemetryName,
    'gen_ai.request.model': languageModel.modelId,
    ...(server && { 'server.address': server.address, 'server.port': server.port }),
  };
}

interface ModelStepFacts {
  model: Model;
  settings: ModelSettings;
  maxOutputTokens: number;
}

export function beginModelStepSpan(
  tracer: Tracer,
  turn: LeasedTurn,
  { model, settings, maxOutputTokens }: ModelStepFacts,
): Span {
  const span = tracer.begin(`chat ${model.languageModel.modelId}`, {
    kind: 'client',
    parent: turn.span.trace,
  });
  if (span.silent) return span;
  span.set({
    'gen_ai.operation.name': 'chat',
    ...modelAttributes(model),
    'gen_ai.request.max_tokens': maxOutputTokens,
    'gen_ai.request.temperature': settings.temperature,
    'gen_ai.request.top_p': settings.topP,
    'gen_ai.request.top_k': settings.topK,
    'gen_ai.request.presence_penalty': settings.presencePenalty,
    'gen_ai.request.frequency_penalty': settings.frequencyPenalty,
    'gen_ai.request.seed': settings.seed,
    'gen_ai.request.stream': true,
    'gen_ai.conversation.id': turn.claimed.sessionId,
  });
  return span;
}

/** `ttftMs` is the time to the first text in milliseconds; undefined when there was no text. */
export function endModelStepSpan(
  span: Span,
  turn: LeasedTurn,
  end: ModelStepEnd,
  ttftMs: number | undefined,
): void {
  if (!span.silent) {
    if (ttftMs !== undefined) span.set({ 'gen_ai.response.time_to_first_chunk': ttftMs / 1_000 });
    if (end.kind === 'finished') span.set(responseAttributes(end));
  }
  span.end(modelStepError(turn, end));
}

function responseAttributes(end: Extract<ModelStepEnd, { kind: 'finished' }>): Attributes {
  const { finishReason, inputTokens, outputTokens } = end;
  return {
    'gen_ai.response.finish_reasons': [finishReason],
    'gen_ai.response.id': end.responseId,
    'gen_ai.response.model': end.responseModel,
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.cache_read.input_tokens': end.cacheReadTokens,
    'gen_ai.usage.cache_creation.input_tokens': end.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': end.reasoningTokens,
  };
}

export function beginToolSpan(
  tracer: Tracer,
  turn: LeasedTurn,
  { name, toolUseId }: ToolCall,
  attempt: number,
): Span {
  const span = tracer.begin(`execute_tool ${name}`, { parent: turn.span.trace });
  if (span.silent) return span;
  span.set({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': toolUseId,
    'gen_ai.tool.type': 'function',
    'gen_ai.conversation.id': turn.claimed.sessionId,
    'ahs.attempt': attempt,
  });
  return span;
}

export function endToolSpan(span: Span, end: ToolEnd): void {
  span.end(toolError(end));
}

function toolError(end: ToolEnd): string | undefined {
  if (end.kind === 'done') return end.isError ? 'tool_error' : undefined;
  if (end.kind === 'failed') return end.cause;
  if (end.kind === 'outcome_unknown') return 'tool_error';
  if (end.kind === 'input_needed' || end.kind === 'authorization_needed') return undefined;
  return end.kind === 'lost' ? 'LEASE_LOST' : 'CANCELLED';
}

function modelStepError(turn: LeasedTurn, end: ModelStepEnd): string | undefined {
  if (end.kind === 'finished') return undefined;
  if (end.kind === 'failed') return end.failure.code;
  return turn.stopCause === 'timeout' ? 'model_timeout' : 'CANCELLED';
}
