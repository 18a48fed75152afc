import type { Span, Tracer } from '../../../lib/telemetry/tracer.ts';
import { parseTraceparent, type Trace } from '../../../lib/trace.ts';
import type { ClaimedTurn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ModelStepEnd } from '../models/model-step.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import type { ToolEnd } from '../tools/run-tool.ts';
import type { ToolCall } from './model-step.ts';

/*
 * The spans of turns. Names and attributes follow
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/. Spans hold no content of messages.
 */

/** The span continues the trace of the request that queued the turn. The claim covers other turns, so it is a link. */
export function beginTurnSpan(tracer: Tracer, claimed: ClaimedTurn, claim: Trace | undefined): Span {
  const span = tracer.begin('turn', {
    kind: 'consumer',
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

interface ModelStepFacts {
  /** The model name of the agent, including the provider. */
  model: string;
  provider: string;
  maxOutputTokens: number;
}

export function beginModelStepSpan(
  tracer: Tracer,
  turn: LeasedTurn,
  { model, provider, maxOutputTokens }: ModelStepFacts,
): Span {
  const span = tracer.begin(`chat ${model}`, { kind: 'client', parent: turn.span.trace });
  if (span.silent) return span;
  span.set({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.request.max_tokens': maxOutputTokens,
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
    if (end.kind === 'finished')
      span.set({
        'gen_ai.response.finish_reasons': [end.finishReason],
        'gen_ai.usage.input_tokens': end.inputTokens,
        'gen_ai.usage.output_tokens': end.outputTokens,
      });
  }
  span.end(modelStepError(turn, end));
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
  return end.kind === 'lost' ? 'LEASE_LOST' : 'CANCELLED';
}

function modelStepError(turn: LeasedTurn, end: ModelStepEnd): string | undefined {
  if (end.kind === 'finished') return undefined;
  if (end.kind === 'failed') return end.failure.code;
  return turn.stopCause === 'timeout' ? 'model_timeout' : 'CANCELLED';
}
