/** The identity provider did not respond, or sent an invalid response. */
export class OidcProviderError extends Error {
  override name = 'OidcProviderError';
}

const WORD = /^[\w.:-]{1,60}$/;

/**
 * Describes a failure in a few words for the log. Errors of the libraries contain responses, codes and tokens, so they
 * are not logged.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof OidcProviderError) return error.message;
  const parts: string[] = [];
  for (let cause = error, depth = 0; cause instanceof Error && depth < 3; cause = cause.cause, depth++) {
    if (cause instanceof OidcProviderError) return cause.message;
    const { code, error: oauthError } = cause as Error & { code?: unknown; error?: unknown };
    for (const part of [code, oauthError]) if (typeof part === 'string' && WORD.test(part)) parts.push(part);
  }
  return parts.length > 0 ? parts.join(' ') : 'an unexpected error';
}
