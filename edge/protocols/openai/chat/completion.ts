import { type AnswerFold, NO_USAGE, type TokenUsage } from '../answer-fold.ts';

/* The objects of the API (https://platform.openai.com/docs/api-reference/chat). */

export interface CompletionHead {
  /** chatcmpl-… with the characters of the turn. */
  id: string;
  /** Seconds since the epoch. */
  created: number;
  /** The model id of the request. */
  model: string;
  /** Of this service: the session, with which clients can continue through `metadata.session_id`. */
  session_id: string;
}

export function completionObject(head: CompletionHead, text: string, fold: AnswerFold) {
  return {
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: null,
        finish_reason: finishReason(fold),
      },
    ],
    usage: usageObject(usageOf(fold)),
  };
}

/** A chunk of a stream. The last one of the answer has a finish reason. */
export function chunkObject(head: CompletionHead, delta: object, finish: string | null = null) {
  return {
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  };
}

/** The chunk with the usage, which clients request with `stream_options`. */
export function usageChunk(head: CompletionHead, fold: AnswerFold) {
  return { ...head, object: 'chat.completion.chunk', choices: [], usage: usageObject(usageOf(fold)) };
}

/** `length` for a turn that a limit ended, `content_filter` for one that the model refused. */
export function finishReason({ stopReason }: Pick<AnswerFold, 'stopReason'>): string {
  if (stopReason === 'max_steps_reached' || stopReason === 'budget_reached') return 'length';
  return stopReason === 'refused' ? 'content_filter' : 'stop';
}

function usageOf({ end }: AnswerFold): TokenUsage {
  return end?.usage ?? NO_USAGE;
}

function usageObject({ inputTokens, outputTokens, cachedTokens, reasoningTokens }: TokenUsage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoningTokens, audio_tokens: 0 },
  };
}
