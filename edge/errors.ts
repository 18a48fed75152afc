import { ERRORS, type ErrorCode, type FieldProblem, Refusal, refuse } from '../lib/errors.ts';

/** The only writer of the error envelope. */

const WITHHELD = 'An unexpected failure. The request id finds its log line.';
/** Statuses whose envelope says when to come back. */
const WAITING = new Set([429, 503]);
const DEFAULT_WAIT_SECONDS = 1;
const MAX_DETAILS = 50;
const MAX_TEXT = 500;

export function errorText(refusal: Refusal, requestId: string): string {
  const { status, category, retryable, owner } = ERRORS[refusal.code];
  const message = refusal.code === 'INTERNAL' ? WITHHELD : clip(refusal.message);
  const details = refusal.details.slice(0, MAX_DETAILS).map(clipDetail);
  return JSON.stringify({
    code: refusal.code,
    message,
    data: WAITING.has(status) ? { retry_after_seconds: waitOf(refusal) } : null,
    error: {
      code: refusal.code,
      status_code: status,
      category,
      retryable,
      owner,
      user_message: message,
      ...(details.length > 0 ? { details } : {}),
      request_id: requestId,
    },
  });
}

/** A refusal may quote what the client sent; the answer stays small however large that was. */
function clip(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
}

function clipDetail({ pointer, message }: FieldProblem): FieldProblem {
  return { pointer: clip(pointer), message: clip(message) };
}

export function statusOf(refusal: Refusal): number {
  return ERRORS[refusal.code].status;
}

/** Headers that go with a refusal because HTTP asks for them. */
export function errorHeaders(refusal: Refusal): Record<string, string> {
  if (WAITING.has(statusOf(refusal))) return { 'retry-after': String(waitOf(refusal)) };
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

function waitOf(refusal: Refusal): number {
  return refusal.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS;
}

/** What the HTTP framework refuses by itself, in our words. Whatever nobody expected is INTERNAL. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' ? FRAMEWORK[code] : undefined;
  if (known) return refuse(...known);
  if (statusCode === 416) return refuse('RANGE_NOT_SATISFIABLE', 'the file has no byte in that range');
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return refuse('INVALID_REQUEST', 'the request is not valid HTTP', { cause: error });
  }
  return refuse('INTERNAL', WITHHELD, { cause: error });
}

const FRAMEWORK: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'the Content-Type must be application/json'],
  FST_ERR_BAD_URL: ['INVALID_REQUEST', 'the path is not valid percent-encoding'],
  FST_ERR_MAX_PARAM_LENGTH: ['URI_TOO_LONG', 'a part of the path is too long'],
};
