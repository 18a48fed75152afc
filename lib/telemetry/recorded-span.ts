import type { HrTime, SpanContext } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { ERRORS, isErrorCode } from '../error-codes.ts';
import type { Trace } from '../trace.ts';
import type { Attributes, Span, SpanKind } from './tracer.ts';

const KINDS: Record<SpanKind, number> = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 };
const ERROR = 2;
const SAMPLED = 1;
/** Longer attribute texts are truncated. Attributes identify things and do not carry content. */
const MAX_CHARACTERS = 512;
const MAX_LINKS = 128;

type ExportedAttributes = Record<string, string | number | boolean | string[]>;

/** The destination of a module's spans and their common attributes. */
export interface SpanRecorder {
  resource: Resource;
  scope: { name: string; version: string; schemaUrl?: string };
  /** Milliseconds to add to `performance.now()` for the time since the epoch. */
  offset(): number;
  ended(span: RecordedSpan): void;
}

interface SpanStart {
  name: string;
  kind: SpanKind;
  trace: Trace;
  parent: Trace | undefined;
  startedAt: number | undefined;
  links: readonly Trace[];
  attributes: Attributes | undefined;
}

/**
 * A span that is exported. During the work it only stores values. Getters build the form that the exporter reads, only
 * when a batch is sent. The span of the SDK costs three times as much.
 */
export class RecordedSpan implements Span, ReadableSpan {
  name: string;
  readonly trace: Trace;
  readonly #start: SpanStart;
  readonly #recorder: SpanRecorder;
  readonly #startedAt: number;
  #endedAt = 0;
  #set: Attributes | undefined;
  #links: Trace[] | undefined;
  #error: string | undefined;
  #exported: ExportedAttributes | undefined;

  constructor(start: SpanStart, recorder: SpanRecorder) {
    this.name = start.name;
    this.trace = start.trace;
    this.#start = start;
    this.#startedAt = start.startedAt ?? performance.now();
    this.#recorder = recorder;
  }

  get silent(): false {
    return false;
  }

  set(attributes: Attributes): void {
    this.#set = this.#set ? { ...this.#set, ...attributes } : attributes;
  }

  rename(name: string): void {
    this.name = name;
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
    return KINDS[this.#start.kind];
  }

  spanContext(): SpanContext {
    return contextOf(this.trace);
  }

  get parentSpanContext(): SpanContext | undefined {
    return this.#start.parent && contextOf(this.#start.parent);
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

  /** The exporter reads the attributes twice: for the size of a batch and for the batch. */
  get attributes(): ExportedAttributes {
    this.#exported ??= this.#describe();
    return this.#exported;
  }

  #describe(): ExportedAttributes {
    const exported: ExportedAttributes = {};
    const { attributes = {} } = this.#start;
    for (const name in attributes) addAttribute(exported, name, attributes[name]);
    for (const name in this.#set) addAttribute(exported, name, this.#set[name]);
    if (this.#error !== undefined) exported['error.type'] = this.#error;
    return exported;
  }

  get links(): { context: SpanContext }[] {
    const all = this.#links ? [...this.#start.links, ...this.#links] : this.#start.links;
    return all.slice(0, MAX_LINKS).map((trace) => ({ context: contextOf(trace) }));
  }

  get resource(): Resource {
    return this.#recorder.resource;
  }

  get instrumentationScope(): SpanRecorder['scope'] {
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

function addAttribute(exported: ExportedAttributes, name: string, value: Attributes[string]): void {
  if (value !== undefined) exported[name] = typeof value === 'string' ? truncate(value) : value;
}

/** Errors that the client caused (status below 500) do not count as failures of the service. */
function isFailure(error: string | undefined): boolean {
  if (error === undefined) return false;
  return !isErrorCode(error) || ERRORS[error].status >= 500;
}

function truncate(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1).toWellFormed()}…` : text;
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.floor((ms - seconds * 1_000) * 1e6)];
}
