import { APICallError } from '@ai-sdk/provider';

/** Error codes of Node and undici for a connection that broke behind the request. */
const SENT = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);
const MAX_CAUSES = 5;

/**
 * Returns whether the provider may have begun to generate an answer, and so counts tokens, when a request failed before its
 * answer was streamed. It has not when it refused the request with an HTTP status, or when the request did not reach it.
 */
export function mayHaveBegun(error: unknown): boolean {
  if (!APICallError.isInstance(error)) return false;
  const { statusCode } = error;
  return statusCode === undefined ? wasSent(error) : statusCode < 300;
}

function wasSent(error: Error): boolean {
  let cause: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++) {
    if ('code' in cause && typeof cause.code === 'string' && SENT.has(cause.code)) return true;
    cause = cause.cause;
  }
  return false;
}
