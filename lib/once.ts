/**
 * Returns the result of one call of `work`. A failed call is repeated by the next one. Modules that a hot route loads with its
 * first request use it: Node resolves the specifier of `import()` again with each call, which costs several microseconds.
 */
export function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
