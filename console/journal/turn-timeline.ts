import type { Turn } from '../gen/types.gen.ts';
import { compactionText, compactionTokensText } from './compaction-text.ts';
import type { DurableEvent } from './event.ts';
import { idleSpans } from './idle-spans.ts';
import { retriesOf, retrySummary } from './retries.ts';
import { newSpan, type TimelineSpan } from './timeline-span.ts';
import { countedTokensText } from './usage-text.ts';
import { callKey } from './view.ts';

export interface TurnTimeline {
  /** The first start of the turn, or the time at which it was queued. Unix milliseconds. */
  start: number;
  /** Unix milliseconds; undefined while the turn is not finished. */
  end: number | undefined;
  /** Ordered by start. */
  spans: TimelineSpan[];
  /** A model request of the finished turn has not reported its tokens. */
  hasUnreportedTokens: boolean;
}

/** Returns the duration of a turn as `GET …/turns` gives it: from its first start, or from its queueing if it never started. */
export function turnTimes({ created_at, started_at, finished_at }: Turn): {
  start: number;
  end: number | undefined;
} {
  const end = finished_at === null ? undefined : Date.parse(finished_at);
  return { start: Date.parse(started_at ?? created_at), end };
}

/** Returns the spans of a turn. `events` are all durable events of the turn. */
export function timelineOf(turn: Turn, events: readonly DurableEvent[]): TurnTimeline {
  const { start, end } = turnTimes(turn);
  const fold = new TimelineFold(turn.turn_id, start);
  for (const event of events) if (event.turn_id === turn.turn_id) fold.add(event);
  const spans = fold.finish(end);
  if (turn.started_at === null) spans.push(queueSpan(turn, start, end));
  for (const series of retriesOf(events.filter(({ turn_id: id }) => id === turn.turn_id)))
    spans.push({
      ...newSpan(`retry-${series.seqs[0]}`, 'retry', retrySummary(series), series.seqs[0], series.start),
      end: series.end ?? end,
    });
  spans.push(...idleSpans(spans, start, end));
  spans.sort((one, other) => one.start - other.start || (one.seq ?? 0) - (other.seq ?? 0));
  return { start, end, spans, hasUnreportedTokens: end !== undefined && fold.hasUnreportedTokens };
}

function queueSpan(
  { turn_id: turnId, queued_seq: seq }: Turn,
  start: number,
  end: number | undefined,
): TimelineSpan {
  return { ...newSpan(`queue-${turnId}`, 'queue', 'Waiting for a runner', seq, start), end };
}

/** Builds the steps of a turn from its events. */
class TimelineFold {
  readonly #turnId: string;
  readonly #turnStart: number;
  readonly #spans: TimelineSpan[] = [];
  readonly #open = new Map<string, TimelineSpan>();
  readonly #names = new Map<string, string>();
  /** The step of each call. After an approval, the call continues without a new model request. */
  readonly #steps = new Map<string, TimelineSpan>();
  #step: TimelineSpan | undefined;
  #finishedSteps = 0;
  #attempt = 1;
  /** Time of the newest event. */
  #newest: number;
  #unreported = 0;

  constructor(turnId: string, turnStart: number) {
    this.#turnId = turnId;
    this.#turnStart = turnStart;
    this.#newest = turnStart;
  }

  get hasUnreportedTokens(): boolean {
    return this.#unreported > 0;
  }

  add(event: DurableEvent): void {
    this.#addSpans(event);
    this.#newest = timeOf(event);
  }

  #addSpans(event: DurableEvent): void {
    switch (event.type) {
      case 'model.request_started': {
        const name = `Step ${this.#finishedSteps + 1}${this.#attempt > 1 ? `, attempt ${this.#attempt}` : ''}`;
        this.#step = newSpan(`step-${event.seq}`, 'step', name, event.seq, timeOf(event));
        this.#spans.push(this.#step);
        this.#unreported++;
        this.#begin(event, 'model', 'model', event.data.model);
        break;
      }
      case 'model.request_finished': {
        this.#unreported--;
        const span = this.#end('model', event, event.data.duration_ms);
        const { usage, ttft_ms: first, is_error: isError } = event.data;
        if (isError) this.#attempt++;
        else {
          this.#attempt = 1;
          this.#finishedSteps++;
        }
        if (!span) break;
        span.isError = isError;
        span.detail = [
          ...(isError && usage.input_tokens === 0 ? [] : [countedTokensText(usage)]),
          ...(first === undefined ? [] : [`first token after ${first} ms`]),
        ].join(', ');
        break;
      }
      case 'user.message_delivered': {
        const at = timeOf(event);
        const name = `Message ${event.data.message_seq}`;
        const detail = `before step ${event.data.step}`;
        this.#spans.push({
          ...newSpan(event.event_id, 'message', name, event.seq, at),
          ...{ end: at, detail },
        });
        break;
      }
      case 'agent.context_compacted': {
        // The runner compacts between two requests and does nothing else, so the work begins at the event before.
        const span = newSpan(
          event.event_id,
          'compaction',
          compactionText(event.data),
          event.seq,
          this.#newest,
        );
        this.#spans.push({ ...span, end: timeOf(event), detail: compactionTokensText(event.data) });
        break;
      }
      case 'agent.tool_use': {
        const id = callKey(this.#turnId, event.data.tool_use_id);
        this.#names.set(id, event.data.name);
        if (this.#step) this.#steps.set(id, this.#step);
        break;
      }
      case 'agent.tool_dispatched': {
        const id = callKey(this.#turnId, event.data.tool_use_id);
        this.#end(id, event);
        const span = this.#begin(event, id, 'tool', this.#names.get(id) ?? event.data.tool_use_id);
        if (event.data.attempt > 1) span.detail = `attempt ${event.data.attempt}`;
        break;
      }
      case 'agent.tool_result': {
        const id = callKey(this.#turnId, event.data.tool_use_id);
        // A call that failed before its dispatch has no span yet.
        if (!this.#open.has(id))
          this.#begin(event, id, 'tool', this.#names.get(id) ?? event.data.tool_use_id);
        const span = this.#end(id, event, event.data.duration_ms);
        if (!span) break;
        span.isError = event.data.is_error;
        span.exitCode = event.data.exit_code || undefined;
        break;
      }
      case 'approval.requested': {
        const {
          approval_id: approvalId,
          tool_name: tool = 'a call',
          tool_use_id: toolUseId = '',
          details,
        } = event.data;
        const step = this.#steps.get(callKey(this.#turnId, toolUseId));
        const title = toolUseId === '' && details ? `Model key for ${details.name}` : `Approval of ${tool}`;
        this.#begin(event, approvalId, 'approval', title, step);
        break;
      }
      case 'approval.decided': {
        const span = this.#end(event.data.approval_id, event);
        if (span) span.detail = event.data.decision;
        break;
      }
      case 'session.error':
      case 'session.status_rescheduled': {
        // The runner was lost: its unfinished request is sent again.
        const span = this.#end('model', event);
        if (!span) break;
        span.isError = true;
        this.#attempt++;
        break;
      }
    }
  }

  /** Ends the open spans with the turn, gives each step the times of its children, and returns the spans. */
  finish(end: number | undefined): TimelineSpan[] {
    for (const span of this.#open.values()) span.end = end;
    for (const span of this.#spans) {
      if (span.children.length === 0) continue;
      span.start = Math.min(...span.children.map((child) => child.start));
      const isOpen = span.children.some((child) => child.end === undefined);
      span.end = isOpen ? undefined : Math.max(...span.children.map((child) => child.end ?? child.start));
      span.isError = span.children.some(({ kind, isError }) => kind === 'model' && isError);
    }
    return this.#spans;
  }

  #begin(
    event: DurableEvent,
    id: string,
    kind: TimelineSpan['kind'],
    name: string,
    step = this.#steps.get(id) ?? this.#step,
  ): TimelineSpan {
    const span = newSpan(event.event_id, kind, name, event.seq, timeOf(event));
    (step?.children ?? this.#spans).push(span);
    this.#open.set(id, span);
    return span;
  }

  /** Runners report events in groups with one time, so a measured duration moves the start of the span. */
  #end(id: string, event: DurableEvent, durationMs = 0): TimelineSpan | undefined {
    const span = this.#open.get(id);
    this.#open.delete(id);
    if (!span) return undefined;
    span.end = timeOf(event);
    span.start = Math.min(span.start, Math.max(this.#turnStart, span.end - durationMs));
    return span;
  }
}

const timeOf = ({ created_at: at }: DurableEvent) => Date.parse(at);
