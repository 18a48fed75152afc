/** The identity provider did not answer, or not as it should have. */
export class ProviderFailure extends Error {
  override name = 'ProviderFailure';
}

const WORD = /^[\w.:-]{1,60}$/;

/**
 * Why something failed, in a few words for the log. Errors of the libraries hold answers, codes and tokens, so they
 * go nowhere themselves.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof ProviderFailure) return error.message;
  const words: string[] = [];
  for (let one = error, depth = 0; one instanceof Error && depth < 3; one = one.cause, depth++) {
    if (one instanceof ProviderFailure) return one.message;
    const { code, error: answer } = one as Error & { code?: unknown; error?: unknown };
    for (const word of [code, answer]) if (typeof word === 'string' && WORD.test(word)) words.push(word);
  }
  return words.length > 0 ? words.join(' ') : 'an unexpected error';
}
