import { APICallError } from '@ai-sdk/provider';

/** What went wrong with a model, in words that the session's owner may read. */
export interface ModelFailure {
  code: string;
  message: string;
  /** Whether another try can succeed. */
  mayPass: boolean;
  /** How long the provider asks to wait, in milliseconds; 0 when it does not say. */
  delayMs: number;
}

const MESSAGE_CHARS = 300;
const LONGEST_DELAY_MS = 3_600_000;

/**
 * Gives an error of the model library a name. Only a refused request says in the provider's own words what
 * is wrong with it, as its author can mend that; what concerns keys and machines stays inside.
 */
export function modelFailure(error: unknown, now: Date): ModelFailure {
  if (!APICallError.isInstance(error)) return unknownFailure();
  const status = error.statusCode;
  const delayMs = retryAfter(error.responseHeaders ?? {}, now);
  if (status === 429) return passing('model_rate_limited', 'The model provider limits the rate.', delayMs);
  if (status === 401 || status === 403)
    return lasting('model_unauthorized', 'The model provider refuses the key.');
  if (error.isRetryable) return passing('model_overloaded', 'The model provider is overloaded.', delayMs);
  return lasting('model_bad_request', brief(error.message));
}

/** The answer broke off in the middle. */
export function streamCut(): ModelFailure {
  return passing('model_stream_cut', "The model's answer broke off in the middle.", 0);
}

export function stepTimeout(seconds: number): ModelFailure {
  return passing('model_timeout', `The model did not finish within ${seconds} seconds.`, 0);
}

export function badRequest(message: string): ModelFailure {
  return lasting('model_bad_request', brief(message));
}

export function unknownFailure(): ModelFailure {
  return lasting('model_error', 'The model failed in an unexpected way.');
}

function passing(code: string, message: string, delayMs: number): ModelFailure {
  return { code, message, mayPass: true, delayMs };
}

function lasting(code: string, message: string): ModelFailure {
  return { code, message, mayPass: false, delayMs: 0 };
}

function brief(message: string): string {
  const [line = ''] = message.split('\n');
  return line.length > MESSAGE_CHARS ? `${line.slice(0, MESSAGE_CHARS)}…` : line;
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function retryAfter(headers: Record<string, string>, now: Date): number {
  const value = headers['retry-after'];
  if (value === undefined) return 0;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now.getTime();
  return ms > 0 ? Math.min(Math.ceil(ms), LONGEST_DELAY_MS) : 0;
}
