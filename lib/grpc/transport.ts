import type { Attributes } from '../telemetry/tracer.ts';
import type { Trace } from '../trace.ts';
import type { Caller, Contract } from './contract.ts';

/** What travels beside a message, whichever way it goes. All text is ASCII. */
export interface Headers {
  /** See passport.ts. */
  passport: string;
  /** Travels as W3C traceparent; absent for work that belongs to no trace. */
  trace: Trace | undefined;
  /** req_…: the request of a client that it serves; absent for work of a service itself. */
  requestId: string | undefined;
  /** How long the caller will wait, in milliseconds; absent on streams without a limit. */
  timeoutMs: number | undefined;
}

/**
 * One message may be this long, in bytes. Both transports refuse more. A webhook's body of 10 MiB that is
 * nothing but NULs is six times as long when it stands in an event, and any bytes are accepted there.
 */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** How a client reaches a service: in this process or over the network. Errors are always a `Refusal`. */
export interface Transport {
  /** The request is an async iterable where the method takes a stream; it is left when the call is over. */
  unary(method: string, request: unknown, headers: Headers, signal: AbortSignal): Promise<unknown>;
  stream(method: string, request: unknown, headers: Headers, signal: AbortSignal): AsyncIterable<unknown>;
}

/** A service behind its guard: authenticated, allowed, observed, and failing only with a `Refusal`. */
export interface Endpoint extends Transport {
  readonly contract: Contract;
}

/** One finished call, for logs and metrics. */
export interface Observation {
  service: string;
  method: string;
  /** Its message; what it says beside ids is nobody's business. */
  request: unknown;
  peer: string;
  caller: Caller | undefined;
  /** OK or a code of the error table. */
  code: string;
  durationMs: number;
  traceId: string;
  requestId: string | undefined;
  /** The unknown error behind INTERNAL. */
  cause?: unknown;
}

/** How a call appears in traces, on both sides (https://opentelemetry.io/docs/specs/semconv/rpc/grpc/). */
export function spanOf(contract: Contract, method: string): { name: string; attributes: Attributes } {
  const name = `${contract.fullName}/${contract.methods[method]?.name ?? method}`;
  return { name, attributes: { 'rpc.system.name': 'grpc', 'rpc.method': name } };
}
