/**
 * How long a hidden page keeps its event stream open, in milliseconds. Over HTTP/1.1 a browser opens at most six connections
 * to one host for all its tabs, so six hidden pages would block a seventh.
 */
const HIDDEN_FOR_MS = 5_000;

/** Calls `callback` each time the page has been hidden for HIDDEN_FOR_MS. Returns a function that stops the observation. */
export function onHidden(callback: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(callback, HIDDEN_FOR_MS);
  };
  update();
  document.addEventListener('visibilitychange', update);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', update);
  };
}

/** Resolves when the page is visible or `signal` aborts. */
export function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const update = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', update);
      signal.removeEventListener('abort', update);
      resolve();
    };
    document.addEventListener('visibilitychange', update);
    signal.addEventListener('abort', update);
    update();
  });
}
