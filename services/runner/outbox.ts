import { refuse } from '../../lib/errors.ts';
import type { EventData, EventType } from '../../lib/events.ts';
import { MAX_MESSAGE_BYTES } from '../../lib/grpc/transport.ts';
import { type Trace, traceparent } from '../../lib/trace.ts';
import type {
  ClaimedTurn,
  NewEvent,
  Outcome,
  TurnReport,
  Usage,
} from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { Preview } from './preview.ts';

/** What one report says beside its events: ids, usage, outcome. */
const REPORT_BYTES = 512;
/** An event has to fit into one message between services, with room for what stands around it. */
export const MAX_EVENT_BYTES = MAX_MESSAGE_BYTES - 256 * 1024;
/** Of one tool call's progress, in UTF-16 units. */
const MAX_PROGRESS = 256 * 1024;

export interface Taken {
  report: TurnReport;
  bytes: number;
}

interface Queued {
  event: NewEvent;
  bytes: number;
  /** With all that is to stand in the same report behind it. */
  groupBytes: number;
  /** The message that is open once this is appended, empty for none; absent when it changes nothing. */
  open?: string;
}

/**
 * What a turn has done and sessions has not been told of yet.
 *
 * `agent.message` holds a whole message, and followers may rely on it alone. Deltas are a preview: joined
 * they are a beginning of its text, a message that is complete within the first report interval has none,
 * and the rest of a longer one comes with the message itself. They never part a surrogate pair.
 */
export class Outbox {
  readonly #lease: { sessionId: string; turnId: string; fence: number };
  /** Empty when nobody records the turn. */
  readonly #traceparent: string;
  readonly #intervalMs: number;
  readonly #startedAt: number;
  #events: Queued[] = [];
  #usage: Usage = { inputTokens: 0, outputTokens: 0, steps: 0, toolCalls: 0, activeMs: 0 };
  #activeSince: number;
  #outcome: Outcome | undefined;
  #reports = 0;
  #closed = false;
  /** Events that were added, and that are known to be in the journal. */
  #added = 0;
  #kept = 0;
  #waiting: { upTo: number; resolve(isKept: boolean): void }[] = [];
  /** The message under way, and its text that no delta holds yet. */
  #messageId = '';
  #text = new Preview();
  /** Whether an event of the message under way exists, reported or not. */
  #begun = false;
  /** The message of which sessions knows a part and not yet the end. */
  #openMessageId = '';
  /** What running tools have shown, by the id of the call. */
  readonly #progress = new Map<string, { preview: Preview; left: number }>();

  constructor(claimed: ClaimedTurn, trace: Trace, intervalMs: number, now: number) {
    this.#traceparent = trace.sampled ? traceparent(trace) : '';
    this.#lease = { sessionId: claimed.sessionId, turnId: claimed.turnId, fence: claimed.fence };
    this.#intervalMs = intervalMs;
    this.#startedAt = now;
    this.#activeSince = now;
  }

  /** Refused with PAYLOAD_TOO_LARGE when no message between services can hold the event. */
  add<T extends EventType>(type: T, data: EventData<T>, open?: string): void {
    const dataJson = JSON.stringify(data);
    const bytes = Buffer.byteLength(dataJson) + type.length + 16;
    if (bytes > MAX_EVENT_BYTES) throw refuse('PAYLOAD_TOO_LARGE', `an event of ${bytes} bytes is too large`);
    this.#events.push({ event: { type, dataJson }, bytes, groupBytes: bytes, open });
    this.#added++;
  }

  count(usage: Partial<Usage>): void {
    this.#usage.inputTokens += usage.inputTokens ?? 0;
    this.#usage.outputTokens += usage.outputTokens ?? 0;
    this.#usage.steps += usage.steps ?? 0;
    this.#usage.toolCalls += usage.toolCalls ?? 0;
  }

  /** A message begins; it ends with `message` or `discard`. */
  begin(messageId: string): void {
    this.#messageId = messageId;
    this.#text = new Preview();
    this.#begun = false;
  }

  text(delta: string, now: number): void {
    this.#text.add(delta, now);
  }

  thinking(text: string): void {
    const data = { message_id: this.#messageId, content: [{ type: 'text', text }] };
    this.add('agent.thinking', data, this.#messageId);
    this.#begun = true;
  }

  /** The message is complete. What it wants done stands in the same report, unless that is too much for one. */
  message(
    data: Omit<EventData<'agent.message'>, 'message_id'>,
    calls: readonly EventData<'agent.tool_use'>[] = [],
  ): void {
    this.add('agent.message', { message_id: this.#messageId, ...data }, '');
    this.begin('');
    const head = this.#events.at(-1);
    for (const call of calls) {
      this.add('agent.tool_use', call);
      if (head) head.groupBytes += this.#events.at(-1)?.bytes ?? 0;
    }
  }

  /** The message will never be complete. Nothing is said of one that nobody has heard of. */
  discard(reason: string): void {
    if (this.#begun) this.add('agent.message_discarded', { message_id: this.#messageId, reason }, '');
    this.begin('');
  }

  /** Whether a part of the message under way has become an event. */
  get begun(): boolean {
    return this.#begun;
  }

  /**
   * A running tool shows something. What is beyond a sensible length is left out. Returns whether it is the first of
   * its call, which the next report shows, whenever that is; what follows is gathered for an interval.
   */
  progress(toolUseId: string, text: string, now: number): boolean {
    const known = this.#progress.get(toolUseId);
    const shown = known ?? { preview: new Preview(), left: MAX_PROGRESS };
    this.#progress.set(toolUseId, shown);
    shown.preview.add(text.slice(0, shown.left), now);
    shown.left -= Math.min(text.length, shown.left);
    return known === undefined;
  }

  /** A call has its result; what its tool has shown before stands before it. */
  result(data: EventData<'agent.tool_result'>): void {
    this.#showProgress(data.tool_use_id);
    this.#progress.delete(data.tool_use_id);
    this.add('agent.tool_result', data);
  }

  /** The turn has ended: this comes with its last report. */
  finish(outcome: Outcome): void {
    this.#outcome = outcome;
  }

  /** The lease is lost: nothing of this turn is reported any more. */
  close(): void {
    this.#closed = true;
    this.#events = [];
    this.#text = new Preview();
    this.#progress.clear();
    this.#outcome = undefined;
    for (const { resolve } of this.#waiting.splice(0)) resolve(false);
  }

  /** Resolves when all that was added so far is in the journal; with false when that is not to be known any more. */
  kept(): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    if (this.#kept === this.#added) return Promise.resolve(true);
    return new Promise((resolve) => this.#waiting.push({ upTo: this.#added, resolve }));
  }

  /** A report with this many events was appended. */
  acknowledge(events: number): void {
    this.#kept += events;
    while (this.#waiting[0] && this.#waiting[0].upTo <= this.#kept) this.#waiting.shift()?.resolve(true);
  }

  /** Whether there is something to report although the turn goes on. */
  due(now: number): boolean {
    if (this.#closed || now - this.#startedAt < this.#intervalMs) return false;
    if (this.#events.length > 0 || this.#text.due(now, this.#intervalMs)) return true;
    for (const { preview } of this.#progress.values()) if (preview.due(now, this.#intervalMs)) return true;
    return false;
  }

  /** Whether a report can be taken at once, without waiting for the interval. */
  get waiting(): boolean {
    return this.#events.length > 0 || this.#outcome !== undefined;
  }

  /**
   * The next report: as many events as `room` bytes hold, at least one of them when it stands `alone`,
   * and the outcome when it is the last. Each report has its number, so that repeating one is safe.
   */
  take(now: number, room: number, alone: boolean): Taken | undefined {
    if (this.#closed) return undefined;
    if (this.#text.due(now, this.#intervalMs)) this.#cutDelta();
    for (const [id, { preview }] of this.#progress)
      if (preview.deltas === 0 || preview.due(now, this.#intervalMs)) this.#showProgress(id);
    const events: NewEvent[] = [];
    let bytes = REPORT_BYTES;
    for (const { event, bytes: size, groupBytes, open } of this.#events) {
      if (bytes + groupBytes > room && !(alone && events.length === 0)) break;
      bytes += size;
      events.push(event);
      this.#openMessageId = open ?? this.#openMessageId;
    }
    this.#events = this.#events.slice(events.length);
    const outcome = this.#events.length === 0 ? this.#outcome : undefined;
    if (events.length === 0 && (!outcome || (bytes > room && !alone))) return undefined;
    if (outcome) this.#outcome = undefined;
    this.#reports++;
    const { sessionId, turnId, fence } = this.#lease;
    const report: TurnReport = {
      sessionId,
      turnId,
      fence,
      events,
      openMessageId: this.#openMessageId,
      usage: this.#takeUsage(now),
      outcome,
      reportSeq: this.#reports,
      // Deltas are a preview, up to forty a second for as long as a model speaks: a trace would be nothing but them.
      traceparent: outcome || events.some(({ type }) => !PREVIEWS.has(type)) ? this.#traceparent : '',
    };
    return { report, bytes };
  }

  #cutDelta(): void {
    const index = this.#text.deltas;
    const delta = this.#text.cut();
    if (delta === undefined) return;
    this.add('agent.message_delta', { message_id: this.#messageId, index, delta }, this.#messageId);
    this.#begun = true;
  }

  #showProgress(toolUseId: string): void {
    const delta = this.#progress.get(toolUseId)?.preview.cut();
    if (delta !== undefined) this.add('agent.tool_progress', { tool_use_id: toolUseId, output_delta: delta });
  }

  #takeUsage(now: number): Usage {
    const usage = { ...this.#usage, activeMs: Math.max(0, now - this.#activeSince) };
    this.#usage = { inputTokens: 0, outputTokens: 0, steps: 0, toolCalls: 0, activeMs: 0 };
    this.#activeSince = now;
    return usage;
  }
}

const PREVIEWS = new Set(['agent.message_delta', 'agent.tool_progress']);
