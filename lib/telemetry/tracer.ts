import { startTrace, type Trace } from '../trace.ts';

/** The span kinds of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/trace/api/#spankind). */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** Names follow https://opentelemetry.io/docs/specs/semconv/; own names start with `ahs.`. Values are never content or secrets. */
export type Attributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

export interface SpanOptions {
  /** `internal` when absent. */
  kind?: SpanKind;
  /** The parent span; absent where a trace starts. */
  parent?: Trace | undefined;
  /** The parent span belongs to an external client, so the sampler decides again whether the trace is recorded. */
  entering?: boolean;
  /** `performance.now()` at the start of the operation; the current time when absent. */
  startedAt?: number;
  /** Related spans of other traces. */
  links?: readonly Trace[];
  attributes?: Attributes;
}

/** A timed operation. */
export interface Span {
  /** The trace context for child operations. */
  readonly trace: Trace;
  /** The span is not recorded, so callers can skip building attributes for it. */
  readonly silent: boolean;
  set(attributes: Attributes): void;
  /** Replaces the name, which can depend on facts that are known only after the start. */
  rename(name: string): void;
  link(trace: Trace): void;
  /**
   * Ends the span; later calls have no effect. `error` is a code of the error table, or another name of the failure.
   * A refusal with a status below 500 does not mark the span as failed.
   */
  end(error?: string): void;
}

/** Starts the spans of one module. */
export interface Tracer {
  /** No span of this tracer is recorded. */
  readonly silent: boolean;
  begin(name: string, options?: SpanOptions): Span;
  /**
   * Starts a span for work that several traces share. It has its own trace with links to the members, and is recorded when
   * at least one member is recorded.
   */
  beginShared(name: string, members: readonly Trace[], options?: Omit<SpanOptions, 'parent' | 'links'>): Span;
}

/** A span that is not recorded. It passes the trace on unchanged. */
export class SilentSpan implements Span {
  readonly trace: Trace;

  constructor(trace: Trace) {
    this.trace = trace;
  }

  get silent(): true {
    return true;
  }

  set(): void {}

  rename(): void {}

  link(): void {}

  end(): void {}
}

/** Records no spans. It passes incoming traces on, so that log lines share their trace id. */
export const silentTracer: Tracer = {
  silent: true,
  begin: (_, options) => new SilentSpan(options?.parent ?? startTrace()),
  beginShared: () => new SilentSpan(startTrace()),
};
