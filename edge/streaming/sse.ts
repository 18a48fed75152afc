import type { Outflow } from './outflow.ts';

const HEARTBEAT_MS = 15_000;
export const RETRY_MS = 2_000;

/** What a stream of Server-Sent Events has besides the headers of every answer. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/** Begins a stream of Server-Sent Events, and keeps proxies from taking it for dead. */
export function beginSse(outflow: Outflow): void {
  outflow.write(`retry: ${RETRY_MS}\n\n`);
  const heartbeat = setInterval(() => outflow.write(': still here\n\n'), HEARTBEAT_MS);
  outflow.onClose(() => clearInterval(heartbeat));
}
