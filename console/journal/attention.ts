/**
 * How long a page goes on following that nobody sees. A browser keeps six connections to a service that speaks HTTP/1.1, for
 * all its tabs: as many hidden ones would leave none to the seventh.
 */
const AWAY_MS = 5_000;

/** Calls `leave` each time the page has been out of sight for a while. Returns how to end that. */
export function whenUnseen(leave: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(leave, AWAY_MS);
  };
  look();
  document.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  };
}

/** Resolves as soon as somebody sees the page, or `signal` aborts. */
export function seen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    look();
  });
}
