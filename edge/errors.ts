import { ERRORS, type ErrorCode } from '../lib/error-codes.ts';
import { type FieldProblem, Refusal, refuse } from '../lib/errors.ts';

/** The only writer of the error envelope, and the parts of it that protocols write in their own shapes. */

const INTERNAL_MESSAGE = 'An unexpected error occurred. Search the log for the request id.';
/** Statuses whose envelope and headers say when to retry. */
const RETRY_AFTER_STATUSES = new Set([429, 503]);
const DEFAULT_RETRY_SECONDS = 1;
const MAX_DETAILS = 50;
const MAX_TEXT = 500;

export function errorText(refusal: Refusal, requestId: string): string {
  const { status, category, owner } = ERRORS[refusal.code];
  const { code, message, retryable, details, retry_after_seconds } = publicError(refusal);
  return JSON.stringify({
    code,
    message,
    data: retry_after_seconds === undefined ? null : { retry_after_seconds },
    error: {
      code,
      status_code: status,
      category,
      retryable,
      owner,
      user_message: message,
      ...(details ? { details } : {}),
      request_id: requestId,
    },
  });
}

/** The parts of a refusal that clients may see, in any protocol. */
export function publicError(refusal: Refusal) {
  const { status, retryable } = ERRORS[refusal.code];
  const details = refusal.details.slice(0, MAX_DETAILS).map(clipDetail);
  return {
    code: refusal.code,
    message: refusal.code === 'INTERNAL' ? INTERNAL_MESSAGE : clip(refusal.message),
    retryable,
    ...(details.length > 0 ? { details } : {}),
    ...(RETRY_AFTER_STATUSES.has(status) ? { retry_after_seconds: retryAfterSeconds(refusal) } : {}),
  };
}

/** Limits the length of a message, which may quote the request. */
function clip(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
}

function clipDetail({ pointer, message }: FieldProblem): FieldProblem {
  return { pointer: clip(pointer), message: clip(message) };
}

export function statusOf(refusal: Refusal): number {
  return ERRORS[refusal.code].status;
}

/** The headers that HTTP requires for an error. */
export function errorHeaders(refusal: Refusal): Record<string, string> {
  if (RETRY_AFTER_STATUSES.has(statusOf(refusal)))
    return { 'retry-after': String(retryAfterSeconds(refusal)) };
  const scheme = CHALLENGES[refusal.code];
  return scheme ? { 'www-authenticate': scheme } : {};
}

/** https://www.rfc-editor.org/rfc/rfc6750#section-3 */
export const REALM = 'Bearer realm="agent-hosting-service"';

const CHALLENGES: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: REALM,
  TOKEN_EXPIRED: REALM,
  DEPLOYMENT_UNAUTHORIZED: 'HMAC-SHA256',
};

function retryAfterSeconds(refusal: Refusal): number {
  return refusal.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS;
}

/** Converts an error of the HTTP framework. Unknown errors become INTERNAL. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const mapped = typeof code === 'string' ? FRAMEWORK[code] : undefined;
  if (mapped) return refuse(...mapped);
  if (statusCode === 416)
    return refuse('RANGE_NOT_SATISFIABLE', 'The requested range is outside of the file.');
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return refuse('INVALID_REQUEST', 'The request is not valid HTTP.', { cause: error });
  }
  return refuse('INTERNAL', INTERNAL_MESSAGE, { cause: error });
}

const FRAMEWORK: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'The Content-Type must be application/json.'],
  FST_ERR_BAD_URL: ['INVALID_REQUEST', 'The path is not valid percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['URI_TOO_LONG', 'A segment of the path is too long.'],
};
