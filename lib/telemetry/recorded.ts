import type { HrTime, SpanContext } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { ERRORS, isErrorCode } from '../errors.ts';
import type { Trace } from '../trace.ts';
import type { Attributes, Span, SpanKind } from './tracer.ts';

const KINDS: Record<SpanKind, number> = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 };
const ERROR = 2;
const SAMPLED = 1;
/** A text that is longer is cut: attributes name things, they do not hold them. */
const MAX_CHARACTERS = 512;
const MAX_LINKS = 128;

type Shown = Record<string, string | number | boolean | string[]>;

/** Where a module's spans go, and what they have in common. */
export interface Recorder {
  resource: Resource;
  scope: { name: string; version: string };
  /** Milliseconds to add to `performance.now()` for the time since the epoch. */
  offset(): number;
  ended(span: RecordedSpan): void;
}

export interface Begun {
  name: string;
  kind: SpanKind;
  trace: Trace;
  parent: Trace | undefined;
  links: readonly Trace[];
  attributes: Attributes | undefined;
}

/**
 * A span on its way to the collector. While the work is under way it only takes notes; the form that the exporter
 * reads is made by getters, when and if a batch goes out. The SDK's own span costs three times as much.
 */
export class RecordedSpan implements Span, ReadableSpan {
  readonly name: string;
  readonly trace: Trace;
  readonly #begun: Begun;
  readonly #recorder: Recorder;
  readonly #startedAt = performance.now();
  #endedAt = 0;
  #set: Attributes | undefined;
  #links: Trace[] | undefined;
  #error: string | undefined;
  #shown: Shown | undefined;

  constructor(begun: Begun, recorder: Recorder) {
    this.name = begun.name;
    this.trace = begun.trace;
    this.#begun = begun;
    this.#recorder = recorder;
  }

  get silent(): false {
    return false;
  }

  set(attributes: Attributes): void {
    this.#set = this.#set ? { ...this.#set, ...attributes } : attributes;
  }

  link(trace: Trace): void {
    this.#links ??= [];
    this.#links.push(trace);
  }

  end(error?: string): void {
    if (this.ended) return;
    this.#endedAt = performance.now();
    this.#error = error;
    this.#recorder.ended(this);
  }

  get ended(): boolean {
    return this.#endedAt !== 0;
  }

  get kind(): number {
    return KINDS[this.#begun.kind];
  }

  spanContext(): SpanContext {
    return contextOf(this.trace);
  }

  get parentSpanContext(): SpanContext | undefined {
    return this.#begun.parent && contextOf(this.#begun.parent);
  }

  get startTime(): HrTime {
    return hrTime(this.#startedAt + this.#recorder.offset());
  }

  get endTime(): HrTime {
    return hrTime(this.#endedAt + this.#recorder.offset());
  }

  get duration(): HrTime {
    return hrTime(this.#endedAt - this.#startedAt);
  }

  get status(): { code: number } {
    return { code: isFailure(this.#error) ? ERROR : 0 };
  }

  /** The exporter asks twice: for the size of a batch, and for the batch. */
  get attributes(): Shown {
    this.#shown ??= this.#describe();
    return this.#shown;
  }

  #describe(): Shown {
    const shown: Shown = {};
    const { attributes = {} } = this.#begun;
    for (const name in attributes) show(shown, name, attributes[name]);
    for (const name in this.#set) show(shown, name, this.#set[name]);
    if (this.#error !== undefined) shown['error.type'] = this.#error;
    return shown;
  }

  get links(): { context: SpanContext }[] {
    const all = this.#links ? [...this.#begun.links, ...this.#links] : this.#begun.links;
    return all.slice(0, MAX_LINKS).map((trace) => ({ context: contextOf(trace) }));
  }

  get resource(): Resource {
    return this.#recorder.resource;
  }

  get instrumentationScope(): Recorder['scope'] {
    return this.#recorder.scope;
  }

  get events(): never[] {
    return [];
  }

  get droppedAttributesCount(): number {
    return 0;
  }

  get droppedEventsCount(): number {
    return 0;
  }

  get droppedLinksCount(): number {
    return 0;
  }
}

function contextOf({ traceId, spanId, sampled }: Trace): SpanContext {
  return { traceId, spanId, traceFlags: sampled ? SAMPLED : 0 };
}

function show(shown: Shown, name: string, value: Attributes[string]): void {
  if (value !== undefined) shown[name] = typeof value === 'string' ? clip(value) : value;
}

/** Whoever asked for the impossible has not found a fault in the service. */
function isFailure(error: string | undefined): boolean {
  if (error === undefined) return false;
  return !isErrorCode(error) || ERRORS[error].status >= 500;
}

function clip(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1).toWellFormed()}…` : text;
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.floor((ms - seconds * 1_000) * 1e6)];
}
