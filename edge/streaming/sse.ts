export const RETRY_MS = 2_000;

/** The beginning of every stream of Server-Sent Events. */
export const SSE_BEGIN = `retry: ${RETRY_MS}\n\n`;
/** A comment, which clients ignore. */
export const SSE_HEARTBEAT = ': still here\n\n';

/** The additional headers of a stream of Server-Sent Events. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};
