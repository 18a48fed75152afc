import { refuse } from '../errors.ts';

export const disconnected = () => refuse('CANCELLED', 'The caller disconnected before the response.');

/** Settles like the promise, or rejects with CANCELLED as soon as the signal aborts. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = () => reject(disconnected());
    if (signal.aborted) {
      promise.catch(() => {});
      return cancel();
    }
    signal.addEventListener('abort', cancel, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', cancel);
        resolve(value);
      },
      (error) => {
        signal.removeEventListener('abort', cancel);
        reject(error);
      },
    );
  });
}
