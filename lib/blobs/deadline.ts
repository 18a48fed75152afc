/**
 * Runs `work` for at most `ms`. When the time is up or `signal` aborts, the result rejects at once and the signal of
 * `work` aborts, even if `work` ignores its signal.
 */
export async function withDeadline<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const ended = Promise.withResolvers<never>();
  // Nothing waits for the promise when `work` throws synchronously.
  ended.promise.catch(() => {});
  const end = (problem: string) => {
    const reason = new Error(problem);
    ended.reject(reason);
    controller.abort(reason);
  };
  const timer = setTimeout(() => end(`The object store did not complete a request within ${ms} ms.`), ms);
  const onAbort = () => end('The caller ended the request.');
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), ended.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
