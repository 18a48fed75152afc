import type { Dispatcher } from 'undici';
import type { ResponseGuard } from './response-limits.ts';

/** Reports the bytes of a response to the guard. Refuses a change of the protocol. */
export function guarded(
  handler: Dispatcher.DispatchHandler,
  guard: ResponseGuard,
): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onRequestUpgrade: (controller) => controller.abort(new Error('upgrade')),
    onResponseStart(controller, status, headers, statusText) {
      // Interim responses are no progress, so that their number is limited by time.
      if (status >= 200) guard.noteProgress();
      handler.onResponseStart?.(controller, status, headers, statusText);
    },
    onResponseData(controller, chunk) {
      guard.noteReceived(chunk.length);
      if (!guard.signal.aborted) handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  };
}
