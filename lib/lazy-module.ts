/**
 * Returns a function that loads a module with its first call. Node resolves the specifier of `import()` again with each call,
 * which costs a hot route several microseconds. A failed load is repeated by the next call.
 */
export function lazyModule<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loading: Promise<Module> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
