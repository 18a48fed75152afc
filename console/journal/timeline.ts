import type { Turn, Usage } from '../gen/types.gen.ts';
import type { LastingEvent } from './event.ts';
import { callKey } from './view.ts';

export interface Span {
  key: string;
  kind: 'queue' | 'model' | 'tool' | 'approval' | 'retry';
  name: string;
  /** Of the event that it begins with. */
  seq: number;
  /** Unix milliseconds. */
  start: number;
  /** Undefined: it goes on. */
  end: number | undefined;
  isError: boolean;
  /** What else is known of it, in words. */
  detail: string;
}

export interface TurnSpans {
  turnId: string;
  seq: number;
  start: number;
  end: number | undefined;
  status: Turn['status'];
  /** How often it had to begin again after a failure. */
  retries: number;
  error: { code: string; message: string } | undefined;
  usage: Usage | undefined;
  /** In the order in which they began. */
  spans: Span[];
}

/** The turns whose events are there, oldest first. Of the first one the beginning may be missing. */
export function timelineOf(events: readonly LastingEvent[]): TurnSpans[] {
  const turns = new Map<string, TurnSpans>();
  const open = new Map<string, Span>();
  const names = new Map<string, string>();
  /** Calls of which somebody was asked whether they may be made. */
  const asked = new Set<string>();

  function turnOf(event: LastingEvent, turnId: string): TurnSpans {
    let turn = turns.get(turnId);
    if (!turn) {
      const start = timeOf(event);
      turn = {
        turnId,
        seq: event.seq,
        start,
        end: undefined,
        status: 'in_progress',
        retries: 0,
        error: undefined,
        usage: undefined,
        spans: [],
      };
      turns.set(turnId, turn);
    }
    return turn;
  }

  /** `id` is how its end finds it. */
  function begin(turn: TurnSpans, event: LastingEvent, id: string, kind: Span['kind'], name: string): Span {
    const span: Span = {
      key: event.event_id,
      kind,
      name,
      seq: event.seq,
      start: timeOf(event),
      end: undefined,
      isError: false,
      detail: '',
    };
    turn.spans.push(span);
    open.set(id, span);
    return span;
  }

  function end(id: string, event: LastingEvent): Span | undefined {
    const span = open.get(id);
    open.delete(id);
    if (span) span.end = timeOf(event);
    return span;
  }

  for (const event of events) {
    const { turn_id: turnId } = event;
    if (turnId === undefined) continue;
    const turn = turnOf(event, turnId);
    const model = `${turnId} model`;
    const queue = `${turnId} queue`;
    const retry = `${turnId} retry`;
    switch (event.type) {
      case 'turn.queued':
        turn.status = 'queued';
        begin(turn, event, queue, 'queue', 'Waiting for a runner');
        break;
      case 'turn.started':
        turn.status = 'in_progress';
        end(queue, event);
        end(retry, event);
        break;
      case 'turn.blocked':
        turn.status = 'blocked';
        break;
      case 'model.request_started':
        begin(turn, event, model, 'model', event.data.model);
        break;
      case 'model.request_finished': {
        const span = end(model, event);
        if (!span) break;
        const { usage, ttft_ms: first, is_error: isError } = event.data;
        span.isError = isError;
        span.detail = [
          `${usage.input_tokens} tokens in, ${usage.output_tokens} out`,
          ...(first === undefined ? [] : [`first token after ${first} ms`]),
        ].join(', ');
        break;
      }
      case 'agent.tool_use':
        names.set(callKey(turnId, event.data.tool_use_id), event.data.name);
        break;
      case 'agent.tool_dispatched': {
        const id = callKey(turnId, event.data.tool_use_id);
        const span = begin(turn, event, id, 'tool', names.get(id) ?? event.data.tool_use_id);
        if (event.data.attempt > 1) span.detail = `attempt ${event.data.attempt}`;
        break;
      }
      case 'agent.tool_result': {
        const id = callKey(turnId, event.data.tool_use_id);
        const name = names.get(id);
        // What was refused before anybody began it has no other trace; a decision against it has.
        if (!open.has(id) && !asked.has(id) && name !== undefined) begin(turn, event, id, 'tool', name);
        const span = end(id, event);
        if (span) span.isError = event.data.is_error;
        break;
      }
      case 'approval.requested':
        if (event.data.tool_use_id) asked.add(callKey(turnId, event.data.tool_use_id));
        begin(
          turn,
          event,
          event.data.approval_id,
          'approval',
          `Approval of ${event.data.tool_name ?? 'a call'}`,
        );
        break;
      case 'approval.decided': {
        const span = end(event.data.approval_id, event);
        if (span) span.detail = event.data.decision;
        break;
      }
      case 'session.error': {
        turn.error = event.data.error;
        const running = end(model, event);
        if (running) running.isError = true;
        if (event.data.retry_status !== 'retrying') break;
        turn.retries++;
        begin(turn, event, retry, 'retry', 'Waiting to try again').detail = event.data.error.code;
        break;
      }
      case 'turn.completed':
      case 'turn.interrupted':
      case 'turn.failed':
      case 'turn.cancelled':
        turn.status = event.type.slice('turn.'.length) as Turn['status'];
        turn.end = timeOf(event);
        turn.error = event.type === 'turn.failed' ? event.data.error : undefined;
        turn.usage = 'usage' in event.data ? event.data.usage : undefined;
        // Whatever has not ended by itself was cut off.
        for (const span of turn.spans) span.end ??= turn.end;
        break;
    }
  }
  return [...turns.values()];
}

const timeOf = ({ created_at: at }: LastingEvent) => Date.parse(at);
