import type { AnswerFold, TokenUsage } from '../answer-fold.ts';
import { messageIdOf, responseIdOf } from './response-id.ts';

/* The objects of the API (https://platform.openai.com/docs/api-reference/responses). */

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'incomplete';

/** What a response says beside its answer. Members that are not stored are null when it is retrieved. */
export interface ResponseHead {
  turnId: string;
  sessionId: string;
  model: string;
  /** Seconds since the epoch. */
  createdAt: number;
  background: boolean;
  instructions: string | null;
  previousResponseId: string | null;
  metadata: Record<string, string>;
  outputSchema?: object | undefined;
}

export interface ResponseState {
  status: ResponseStatus;
  /** The whole answer so far. */
  text: string;
  fold: AnswerFold;
}

export function responseObject(head: ResponseHead, { status, text, fold }: ResponseState) {
  const { end } = fold;
  return {
    id: responseIdOf(head.turnId),
    object: 'response',
    created_at: head.createdAt,
    status,
    background: head.background,
    error: end?.kind === 'failed' ? { code: 'server_error', message: `${end.message} (${end.code})` } : null,
    incomplete_details: status === 'incomplete' ? { reason: incompleteReason(fold) } : null,
    instructions: head.instructions,
    max_output_tokens: null,
    model: head.model,
    output: text === '' ? [] : [messageItem(head.turnId, text, itemStatus(status))],
    parallel_tool_calls: true,
    previous_response_id: head.previousResponseId,
    conversation: { id: head.sessionId },
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: null,
    text: {
      format: head.outputSchema
        ? { type: 'json_schema', name: 'output', schema: head.outputSchema }
        : { type: 'text' },
    },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: end ? usageObject(end.usage) : null,
    metadata: head.metadata,
  };
}

/** The one item of the output: a message with one text. */
export function messageItem(
  turnId: string,
  text: string,
  status: 'in_progress' | 'completed' | 'incomplete',
) {
  return {
    type: 'message',
    id: messageIdOf(turnId),
    status,
    role: 'assistant',
    content: status === 'in_progress' && text === '' ? [] : [textPart(text)],
  };
}

export const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

/** The status of a response whose turn has ended or waits. */
export function finalStatus({ end, stopReason }: Pick<AnswerFold, 'end' | 'stopReason'>): ResponseStatus {
  if (!end) return 'incomplete';
  if (end.kind === 'failed') return 'failed';
  if (end.kind === 'interrupted') return 'cancelled';
  return stopReason !== undefined && stopReason in INCOMPLETE ? 'incomplete' : 'completed';
}

const INCOMPLETE: Readonly<Record<string, string>> = {
  max_steps_reached: 'max_output_tokens',
  budget_reached: 'max_output_tokens',
  refused: 'content_filter',
};

/** A turn that waits for a person has no counterpart among the reasons of the API. */
function incompleteReason({ end, stopReason }: AnswerFold): string {
  if (!end) return 'requires_action';
  return INCOMPLETE[stopReason ?? ''] ?? 'max_output_tokens';
}

function itemStatus(status: ResponseStatus): 'in_progress' | 'completed' | 'incomplete' {
  if (status === 'queued' || status === 'in_progress') return 'in_progress';
  return status === 'completed' ? 'completed' : 'incomplete';
}

function usageObject({ inputTokens, outputTokens, cachedTokens, reasoningTokens }: TokenUsage) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
