import { APICallError } from '@ai-sdk/provider';

const MAX_CAUSES = 5;

/**
 * Copies the parts of an error that may be logged: name, code, status and stack frames. Messages and other members are
 * left out, because errors of the model library hold the request with the messages of users, the answer of the model,
 * the address of the provider and, for a malformed header, the API key. Returns undefined for a value that is not an
 * Error.
 */
export function redactedError(error: unknown, depth = 0): Error | undefined {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return undefined;
  const { name, cause } = error;
  const code = codeOf(error);
  const copy = Object.assign(new Error(summary(error), { cause: redactedError(cause, depth + 1) }), {
    name,
    ...(code && { code }),
  });
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  copy.stack = [`${name}: ${copy.message}`, ...frames].join('\n');
  return copy;
}

function summary(error: Error): string {
  const status = APICallError.isInstance(error) ? error.statusCode : undefined;
  return status === undefined ? 'message redacted' : `the provider answered with status ${status}`;
}

/** Codes of Node and undici such as `ECONNREFUSED` and `UND_ERR_SOCKET`. */
function codeOf(error: Error): string | undefined {
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined;
}
