import { AISDKError, APICallError } from '@ai-sdk/provider';
import { retryAfter } from './delay.ts';
import { KeyMissing } from './providers.ts';
import { type Reply, replyOf } from './reply.ts';

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

/** What the library throws when an answer is not what the provider's wire says it should be. */
const GARBLED = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
  'AI_NoContentGeneratedError',
]);
/** The same, as the Anthropic provider says it of the first piece of an answer. */
const GARBLED_BEGINNING = 'Expected a normalized Anthropic stream error';

/**
 * Gives an error of the model library a name, be it thrown or a part of the stream. Only a refused request says in
 * the provider's own words what is wrong with it, as its author can mend that; what concerns keys and machines stays
 * inside.
 */
export function modelFailure(error: unknown, now: Date): ModelFailure {
  if (error instanceof KeyMissing) return keyMissing(error.provider);
  const isCall = APICallError.isInstance(error);
  if (isCall && error.statusCode === undefined) return unreachable();
  // The request was accepted: it is the answer that did not arrive whole.
  if (isCall && error.statusCode !== undefined && error.statusCode < 300) return streamCut();
  const reply = replyOf(error);
  if (reply) return refused(reply, isCall ? retryAfter(error.responseHeaders ?? {}, now) : 0);
  if (AISDKError.isInstance(error) && GARBLED.has(error.name)) return streamCut();
  return error instanceof Error && error.message === GARBLED_BEGINNING ? streamCut() : unknownFailure();
}

function refused({ status, words, isSpent, mayPass }: Reply, delayMs: number): ModelFailure {
  if (isSpent || status === 402)
    return lasting('model_quota_exhausted', 'The account at the model provider has no credit or quota left.');
  if (status === 429) return passing('model_rate_limited', 'The model provider limits the rate.', delayMs);
  if (status === 401 || status === 403)
    return lasting('model_unauthorized', 'The model provider refuses the key.');
  if (mayPass) return passing('model_overloaded', 'The model provider is overloaded.', delayMs);
  return badRequest(words);
}

/** The answer broke off in the middle. */
export function streamCut(): ModelFailure {
  return passing('model_stream_cut', "The model's answer broke off in the middle.", 0);
}

export function stepTimeout(seconds: number): ModelFailure {
  return passing('model_timeout', `The model did not finish within ${seconds} seconds.`, 0);
}

function keyMissing(provider: string): ModelFailure {
  return lasting(
    'model_key_missing',
    `The models of ${provider} need a key, which whoever operates this service has to give to the runner.`,
  );
}

export function badRequest(message: string): ModelFailure {
  return lasting('model_bad_request', brief(message) || 'The model provider refuses the request.');
}

export function unknownFailure(): ModelFailure {
  return lasting('model_error', 'The model failed in an unexpected way.');
}

function unreachable(): ModelFailure {
  return passing('model_unreachable', 'The model provider cannot be reached.', 0);
}

function passing(code: string, message: string, delayMs: number): ModelFailure {
  return { code, message, mayPass: true, delayMs };
}

function lasting(code: string, message: string): ModelFailure {
  return { code, message, mayPass: false, delayMs: 0 };
}

const ADDRESS = /[a-z][a-z0-9+.-]*:\/\/\S+/gi;
const KEY = /\b(?:bearer\s+\S+|(?:sk|pk|rk|gsk|xai|key)[-_](?=[\w.-]*[\d*])[\w.*-]{8,})/gi;

/** The first line, without addresses and without what looks like a key. */
function brief(message: string): string {
  const [line = ''] = message.trim().split('\n');
  const clean = line.replace(ADDRESS, '…').replace(KEY, '…');
  return clean.length > MESSAGE_CHARS ? `${clean.slice(0, MESSAGE_CHARS)}…` : clean;
}
