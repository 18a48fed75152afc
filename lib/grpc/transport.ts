import type { Attributes } from '../telemetry/tracer.ts';
import type { Trace } from '../trace.ts';
import type { Caller, Contract } from './contract.ts';

/** The metadata of a call on either transport. All text is ASCII. */
export interface CallHeaders {
  /** See service-token.ts. */
  serviceToken: string;
  /** Sent as W3C traceparent; undefined for work without a trace. */
  trace: Trace | undefined;
  /** req_…: the client request that the call belongs to; undefined for work that a service does on its own. */
  requestId: string | undefined;
  /** How long the caller waits, in milliseconds; undefined for streams without a limit. */
  timeoutMs: number | undefined;
}

/**
 * The maximum size of a message in bytes. Both transports refuse larger messages. Any bytes are accepted as a webhook
 * body, and a body of 10 MiB of NUL bytes is six times as long as JSON in an event.
 */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** The way from a client to a service: in process or over the network. Calls fail only with a `Refusal`. */
export interface Transport {
  /** The request is an async iterable for a method with a request stream. It is closed when the call ends. */
  unary(method: string, request: unknown, headers: CallHeaders, signal: AbortSignal): Promise<unknown>;
  stream(method: string, request: unknown, headers: CallHeaders, signal: AbortSignal): AsyncIterable<unknown>;
}

/** A guarded service: calls are authenticated, authorized and observed, and fail only with a `Refusal`. */
export interface Endpoint extends Transport {
  readonly contract: Contract;
}

/** A finished call, for logs and metrics. */
export interface Observation {
  service: string;
  method: string;
  /** The request message. Only its ids may be logged. */
  request: unknown;
  peer: string;
  caller: Caller | undefined;
  /** OK or a code of the error table. */
  code: string;
  durationMs: number;
  traceId: string;
  spanId: string;
  requestId: string | undefined;
  /** The unexpected error behind INTERNAL. */
  cause?: unknown;
}

/** Returns the span name and attributes of a method, for both sides (https://opentelemetry.io/docs/specs/semconv/rpc/grpc/). */
export function spanOf(contract: Contract, method: string): { name: string; attributes: Attributes } {
  const name = `${contract.fullName}/${contract.methods[method]?.name ?? method}`;
  return { name, attributes: { 'rpc.system.name': 'grpc', 'rpc.method': name } };
}
