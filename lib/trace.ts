import { randomFillSync } from 'node:crypto';

/**
 * The trace context of a request (W3C Trace Context, https://www.w3.org/TR/trace-context/). It is passed explicitly with
 * each call: in the HTTP header, the gRPC metadata and the turn row.
 */
export interface Trace {
  /** 32 lowercase hexadecimal digits. */
  traceId: string;
  /** 16 lowercase hexadecimal digits: the current span. */
  spanId: string;
  /** Whether the trace is recorded. The service that starts the trace decides for all others. */
  sampled: boolean;
}

const HEADER = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const pool = Buffer.alloc(2400);
let used = pool.length;

function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}

/** Returns a new trace that is not sampled. */
export function startTrace(): Trace {
  return { traceId: randomHex(16), spanId: randomHex(8), sampled: false };
}

/** Returns undefined for a missing or malformed header. The caller then starts a new trace. */
export function parseTraceparent(header: string | undefined): Trace | undefined {
  const match = header === undefined ? null : HEADER.exec(header);
  if (!match) return undefined;
  const [, traceId = '', spanId = '', flags = '00'] = match;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function traceparent(trace: Trace): string {
  return `00-${trace.traceId}-${trace.spanId}-${trace.sampled ? '01' : '00'}`;
}

/** Returns a new span of the same trace. */
export function childSpan(trace: Trace): Trace {
  return { traceId: trace.traceId, spanId: randomHex(8), sampled: trace.sampled };
}
