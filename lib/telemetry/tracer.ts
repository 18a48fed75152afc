import { startTrace, type Trace } from '../trace.ts';

/** What OpenTelemetry calls it (https://opentelemetry.io/docs/specs/otel/trace/api/#spankind). */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** Names follow https://opentelemetry.io/docs/specs/semconv/; ours begin with `ahs.`. Never content, never a secret. */
export type Attributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

export interface SpanOptions {
  /** `internal` when absent. */
  kind?: SpanKind;
  /** The span it is a part of; absent where a trace begins. */
  parent?: Trace | undefined;
  /** The parent is a client's, not ours: the operator may want to decide anew whether the trace is recorded. */
  entering?: boolean;
  /** Spans of other traces that it has to do with. */
  links?: readonly Trace[];
  attributes?: Attributes;
}

/** A piece of work, from its beginning to its end. */
export interface Span {
  /** For whatever is done as a part of it. */
  readonly trace: Trace;
  /** Nobody will see it: what would only describe it can be left out. */
  readonly silent: boolean;
  set(attributes: Attributes): void;
  link(trace: Trace): void;
  /**
   * Once; what comes later is not heard. `error` names what went wrong, by a code of the error table where it
   * has one. A refusal that is the caller's own doing does not count as a failure.
   */
  end(error?: string): void;
}

/** Begins the spans of one module. */
export interface Tracer {
  /** Nothing is recorded, whatever the caller asks. */
  readonly silent: boolean;
  begin(name: string, options?: SpanOptions): Span;
  /**
   * Work done for several traces at once has a trace of its own, with links to its members. It is recorded when
   * one of them is.
   */
  beginShared(name: string, members: readonly Trace[], options?: Omit<SpanOptions, 'parent' | 'links'>): Span;
}

/** A span that nobody records. The trace goes on through it unchanged. */
export class SilentSpan implements Span {
  readonly trace: Trace;

  constructor(trace: Trace) {
    this.trace = trace;
  }

  get silent(): true {
    return true;
  }

  set(): void {}

  link(): void {}

  end(): void {}
}

/** Records nothing; traces that come from outside pass through, so that log lines share their id. */
export const silentTracer: Tracer = {
  silent: true,
  begin: (_, options) => new SilentSpan(options?.parent ?? startTrace()),
  beginShared: () => new SilentSpan(startTrace()),
};
