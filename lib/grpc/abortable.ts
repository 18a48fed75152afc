import { refuse } from '../errors.ts';

/** Settles like the promise, or fails as soon as the signal aborts: nobody waits for work they have given up. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const leave = () => reject(refuse('CANCELLED', 'the caller left before the answer'));
    if (signal.aborted) {
      promise.catch(() => {});
      return leave();
    }
    signal.addEventListener('abort', leave, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', leave);
        resolve(value);
      },
      (error) => {
        signal.removeEventListener('abort', leave);
        reject(error);
      },
    );
  });
}
