import { APICallError } from '@ai-sdk/provider';
import { type LengthRefusal, lengthRefusalOf } from './length-refusal.ts';

/** An error response of a provider, or an error event in the middle of a stream. */
export interface ModelProviderError {
  status: number;
  /** The message of the provider. */
  message: string;
  /** The account has no credit or quota left, so a retry does not help. */
  isQuotaExhausted: boolean;
  isRetryable: boolean;
  /** Present if the provider has refused the request because of its length. */
  length?: LengthRefusal | undefined;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads the error of a provider. An error event in a stream has no status: some providers of the library add one, others
 * pass on `{message, type?, code?}` from the wire. Returns undefined for other errors.
 */
export function parseProviderError(error: unknown): ModelProviderError | undefined {
  if (APICallError.isInstance(error)) {
    const { statusCode = 500, message, data, isRetryable } = error;
    const kind = kindOf(membersOf(data)?.error ?? data);
    // Gemini answers 400 to a wrong key. Bedrock answers 424 when the model itself fails.
    const status = statusCode === 400 && WRONG_KEY.test(message) ? 401 : statusCode;
    const length = lengthRefusalOf(status, kind, message);
    return {
      status,
      message,
      isQuotaExhausted: QUOTA_EXHAUSTED.test(kind),
      isRetryable: (isRetryable || status === 424) && !length,
      length,
    };
  }
  if (error instanceof Error) return undefined;
  const event = membersOf(error);
  if (typeof event?.message !== 'string') return undefined;
  const kind = kindOf(event);
  const status = httpStatus(event.statusCode) ?? httpStatus(event.code) ?? statusOf(kind);
  return {
    status,
    message: event.message,
    isQuotaExhausted: QUOTA_EXHAUSTED.test(kind),
    isRetryable: isRetryableStatus(status),
    length: lengthRefusalOf(status, kind, event.message),
  };
}

const WRONG_KEY = /API key (not valid|expired)|API_KEY_INVALID/i;
const QUOTA_EXHAUSTED = /insufficientquota|billing|payment/;

/** Error kinds of providers, without case and separators, and the HTTP status with the same meaning. */
const STATUS_BY_KIND: readonly (readonly [kinds: RegExp, status: number])[] = [
  [/ratelimit|toomanyrequests/, 429],
  [/authentication|unauthorized|apikey/, 401],
  [/permission|forbidden/, 403],
  [/invalid|badrequest|contextlength|notfound|contentpolicy/, 400],
];

function statusOf(kind: string): number {
  return STATUS_BY_KIND.find(([kinds]) => kinds.test(kind))?.[1] ?? 500;
}

/** Normalizes spellings: `RateLimitError`, `rate_limit_error` and `rate-limit` all contain `ratelimit`. */
function kindOf(error: unknown): string {
  const { code, type } = membersOf(error) ?? {};
  return `${code} ${type}`.toLowerCase().replace(/[^a-z ]/g, '');
}

function httpStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined;
}

function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 424 || status === 429 || status >= 500;
}

function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}
