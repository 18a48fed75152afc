import type { Caller, Contract } from './contract.ts';

/** What travels beside a message, whichever way it goes. All text is ASCII. */
export interface Headers {
  /** See passport.ts. */
  passport: string;
  /** W3C traceparent. */
  traceparent: string;
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
  peer: string;
  caller: Caller | undefined;
  /** OK or a code of the error table. */
  code: string;
  durationMs: number;
  traceId: string;
  /** The unknown error behind INTERNAL. */
  cause?: unknown;
}
