export const RETRY_MS = 2_000;

/** How every stream of Server-Sent Events begins. */
export const SSE_BEGIN = `retry: ${RETRY_MS}\n\n`;
/** A comment, which clients do not show to anybody. */
export const SSE_HEARTBEAT = ': still here\n\n';

/** What a stream of Server-Sent Events has besides the headers of every answer. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};
