import { randomFillSync } from 'node:crypto';

/**
 * Where a request stands in its trace (W3C Trace Context, https://www.w3.org/TR/trace-context/).
 * It travels by hand with each call: HTTP header, gRPC metadata, turn row.
 */
export interface Trace {
  /** 32 lowercase hexadecimal digits. */
  traceId: string;
  /** 16 lowercase hexadecimal digits: the current span. */
  spanId: string;
  /** Whether it is recorded; who began the trace has decided that for everybody. */
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

/** A new trace. Nobody records it until somebody says so. */
export function startTrace(): Trace {
  return { traceId: randomHex(16), spanId: randomHex(8), sampled: false };
}

/** Undefined for a header that is missing or not well-formed: then the caller starts a trace of its own. */
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

/** A new span of the same trace. */
export function childSpan(trace: Trace): Trace {
  return { traceId: trace.traceId, spanId: randomHex(8), sampled: trace.sampled };
}
