import { APICallError } from '@ai-sdk/provider';

const DEPTH = 5;

/**
 * What of an error may be written into a log: which one it was, and where. Its words stay out, as do all its members:
 * those of the library hold the whole request with what people said, what the model answered, the provider's address
 * and, where a header is malformed, even the key.
 */
export function loggable(error: unknown, depth = 0): Error | undefined {
  if (!(error instanceof Error) || depth > DEPTH) return undefined;
  const { name, cause } = error;
  const code = codeOf(error);
  const clean = Object.assign(new Error(summary(error), { cause: loggable(cause, depth + 1) }), {
    name,
    ...(code && { code }),
  });
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  clean.stack = [`${name}: ${clean.message}`, ...frames].join('\n');
  return clean;
}

function summary(error: Error): string {
  const status = APICallError.isInstance(error) ? error.statusCode : undefined;
  return status === undefined ? 'its words are not written down' : `the provider answered ${status}`;
}

/** `ECONNREFUSED`, `UND_ERR_SOCKET` and the like. */
function codeOf(error: Error): string | undefined {
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined;
}
