import type { Span, Tracer } from '../../lib/telemetry/tracer.ts';
import { parseTraceparent, type Trace } from '../../lib/trace.ts';
import type { ClaimedTurn } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { HeldTurn } from './held.ts';
import type { StepEnd } from './models/step.ts';
import type { Call } from './step.ts';
import type { ToolEnd } from './tools/run.ts';

/*
 * How turns appear in traces. The names are those of
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/; what is said stays out of them.
 */

/** A turn goes on in the trace of the request that queued it; the claim that brought it was for others, too. */
export function beginTurn(tracer: Tracer, claimed: ClaimedTurn, claim: Trace | undefined): Span {
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

export interface Step {
  /** As the agent names it, with its provider. */
  model: string;
  provider: string;
  maxOutputTokens: number;
}

/** A model speaks, as a part of a turn. */
export function beginStep(tracer: Tracer, turn: HeldTurn, { model, provider, maxOutputTokens }: Step): Span {
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

/** `ttftMs`: until the first text; undefined when there was none. */
export function endStep(span: Span, turn: HeldTurn, end: StepEnd, ttftMs: number | undefined): void {
  if (!span.silent) {
    if (ttftMs !== undefined) span.set({ 'gen_ai.response.time_to_first_chunk': ttftMs / 1_000 });
    if (end.kind === 'finished')
      span.set({
        'gen_ai.response.finish_reasons': [end.finishReason],
        'gen_ai.usage.input_tokens': end.inputTokens,
        'gen_ai.usage.output_tokens': end.outputTokens,
      });
  }
  span.end(failureOf(turn, end));
}

/** A call is with its tool, as a part of a turn. */
export function beginTool(tracer: Tracer, turn: HeldTurn, { name, toolUseId }: Call, attempt: number): Span {
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

export function endTool(span: Span, end: ToolEnd): void {
  span.end(failureOfTool(end));
}

function failureOfTool(end: ToolEnd): string | undefined {
  if (end.kind === 'done') return end.isError ? 'tool_error' : undefined;
  if (end.kind === 'failed') return end.cause;
  return end.kind === 'lost' ? 'LEASE_LOST' : 'CANCELLED';
}

function failureOf(turn: HeldTurn, end: StepEnd): string | undefined {
  if (end.kind === 'finished') return undefined;
  if (end.kind === 'failed') return end.failure.code;
  return turn.stopped === 'timeout' ? 'model_timeout' : 'CANCELLED';
}
