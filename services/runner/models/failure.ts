import { AISDKError, APICallError } from '@ai-sdk/provider';
import { installation, optionalProvider } from '../../../lib/model-providers.ts';
import type { LengthRefusal } from './length-refusal.ts';
import { MissingPackage } from './packages.ts';
import { IncompleteProvider, MissingApiKey } from './provider.ts';
import { type ModelProviderError, parseProviderError } from './provider-error.ts';
import { retryAfterMs } from './retry-after.ts';

/** A failed model request. The session's owner sees code and message. */
export interface ModelFailure {
  code: string;
  message: string;
  isRetryable: boolean;
  /** The delay in milliseconds that the provider asks for; 0 when it asks for none. */
  delayMs: number;
  /** The status with which the provider has refused the API key. */
  refusedStatus?: number | undefined;
  /** Present if the provider has refused the request because of its length. */
  length?: LengthRefusal | undefined;
}

const MESSAGE_CHARS = 300;

/** Names of the library's errors for an answer that violates the protocol of the provider. */
const PROTOCOL_ERRORS = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
  'AI_NoContentGeneratedError',
]);
/** The message of the Anthropic package for a protocol error in the first event of a stream. */
const ANTHROPIC_PROTOCOL_ERROR = 'Expected a normalized Anthropic stream error';

/**
 * Converts an error that the model library threw or streamed. Only a rejected request keeps the provider's message,
 * because the author of the agent can fix the request. Messages about keys and servers are not passed on.
 */
export function toModelFailure(error: unknown, now: Date): ModelFailure {
  if (error instanceof MissingApiKey) return missingKey(error.provider);
  if (error instanceof MissingPackage) return missingPackage(error);
  if (error instanceof IncompleteProvider) return permanent('model_provider_incomplete', error.message);
  const isCall = APICallError.isInstance(error);
  if (isCall && error.statusCode === undefined) return unreachable();
  // The provider accepted the request, so the answer was incomplete.
  if (isCall && error.statusCode !== undefined && error.statusCode < 300) return interruptedStream();
  const providerError = parseProviderError(error);
  if (providerError)
    return rejectedRequest(providerError, isCall ? retryAfterMs(error.responseHeaders ?? {}, now) : 0);
  if (AISDKError.isInstance(error) && PROTOCOL_ERRORS.has(error.name)) return interruptedStream();
  return error instanceof Error && error.message === ANTHROPIC_PROTOCOL_ERROR
    ? interruptedStream()
    : unknownFailure();
}

function rejectedRequest(
  { status, message, isQuotaExhausted, isRetryable, length }: ModelProviderError,
  delayMs: number,
): ModelFailure {
  if (length) return { ...permanent(CONTEXT_EXCEEDED, shortened(message) || TOO_LONG), length };
  if (isQuotaExhausted || status === 402)
    return permanent(
      'model_quota_exhausted',
      'The account at the model provider has no credit or quota left.',
    );
  if (status === 429)
    return temporary('model_rate_limited', 'The rate limit of the model provider is exceeded.', delayMs);
  if (status === 401 || status === 403)
    return {
      ...permanent('model_unauthorized', 'The model provider rejects the API key.'),
      refusedStatus: status,
    };
  if (isRetryable) return temporary('model_overloaded', 'The model provider is overloaded.', delayMs);
  return badRequest(message);
}

/** The code of a request that is longer than the context window of the model. */
export const CONTEXT_EXCEEDED = 'model_context_exceeded';
const TOO_LONG = 'The request is longer than the context window of the model.';

/** The answer ended before it was complete. */
export function interruptedStream(): ModelFailure {
  return temporary('model_stream_cut', 'The answer of the model was interrupted.', 0);
}

export function stepTimeout(seconds: number): ModelFailure {
  return temporary('model_timeout', `The model did not finish within ${seconds} seconds.`, 0);
}

/** The provider has refused the model key of an agent, now with a status or before. */
export function refusedModelKey(refusedStatus: number | undefined): ModelFailure {
  const message =
    'The model provider has refused the model key of the agent. An administrator must replace it in its vault.';
  return { ...permanent('model_key_refused', message), refusedStatus };
}

function missingKey(provider: string): ModelFailure {
  return permanent(
    'model_key_missing',
    `The API key of ${provider} is not configured. The operator of this service must give it to the runner.`,
  );
}

function missingPackage({ message, provider }: MissingPackage): ModelFailure {
  const optional = optionalProvider(provider);
  const remedy = optional ? ` The operator must ${installation(optional)}` : '';
  return permanent('model_package_missing', `${message}${remedy}`);
}

export function badRequest(message: string): ModelFailure {
  return permanent('model_bad_request', shortened(message) || 'The model provider rejects the request.');
}

function unknownFailure(): ModelFailure {
  return permanent('model_error', 'The model request failed unexpectedly.');
}

function unreachable(): ModelFailure {
  return temporary('model_unreachable', 'The model provider is unreachable.', 0);
}

function temporary(code: string, message: string, delayMs: number): ModelFailure {
  return { code, message, isRetryable: true, delayMs };
}

function permanent(code: string, message: string): ModelFailure {
  return { code, message, isRetryable: false, delayMs: 0 };
}

const ADDRESS = /[a-z][a-z0-9+.-]*:\/\/\S+/gi;
const KEY = /\b(?:bearer\s+\S+|(?:sk|pk|rk|gsk|xai|key)[-_](?=[\w.-]*[\d*])[\w.*-]{8,})/gi;

/** The first line without URLs and without text that looks like an API key. */
function shortened(message: string): string {
  const [line = ''] = message.trim().split('\n');
  const clean = line.replace(ADDRESS, '…').replace(KEY, '…');
  return clean.length > MESSAGE_CHARS ? `${clean.slice(0, MESSAGE_CHARS)}…` : clean;
}
