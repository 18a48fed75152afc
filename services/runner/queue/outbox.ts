import type { MessagePart } from '../../../lib/event-parts.ts';
import type { EventType } from '../../../lib/event-types.ts';
import type { EventData } from '../../../lib/events.ts';
import { type Trace, traceparent } from '../../../lib/trace.ts';
import type {
  ClaimedTurn,
  OpenModelRequest,
  Outcome,
  TurnReport,
  Usage,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { DeltaBuffer } from './delta-buffer.ts';
import { type ReportIntervals, ReportPace } from './report-pace.ts';
import { type NewContextEstimate, UnreportedContext } from './unreported-context.ts';
import { UnreportedEvents } from './unreported-events.ts';
import { UnreportedProgress } from './unreported-progress.ts';
import { addUsage, NO_USAGE } from './usage.ts';

/** Size estimate of a report without its events: ids, usage, outcome. */
const REPORT_BYTES = 512;

interface SizedReport {
  report: TurnReport;
  bytes: number;
}

/**
 * The events, usage and outcome of a turn that are not reported to sessions yet.
 *
 * `agent.message` holds a whole message, and followers may rely on it alone. Deltas are a preview: concatenated they
 * are a prefix of its text. A message that is complete within one report interval has no deltas, and the rest of a
 * longer message comes with the message itself. Deltas never split a surrogate pair.
 */
export class Outbox {
  readonly #lease: { sessionId: string; turnId: string; fence: number };
  /** Empty when the turn is not traced. */
  readonly #traceparent: string;
  readonly #pace: ReportPace;
  readonly #startedAt: number;
  #lastReportAt: number;
  readonly #events = new UnreportedEvents();
  #usage: Usage = { ...NO_USAGE };
  #openModelRequest: (() => OpenModelRequest) | undefined;
  readonly #context = new UnreportedContext();
  #activeSince: number;
  #outcome: Outcome | undefined;
  #reports = 0;
  #closed = false;
  /** The number of events that are journaled. */
  #journaled = 0;
  #waiting: { upTo: number; resolve(isJournaled: boolean): void }[] = [];
  /** The id of the current message; empty for none. */
  #messageId = '';
  /** The text of the current message that is not in a delta yet. */
  #text = new DeltaBuffer();
  /** Whether the current message has an event, reported or not. */
  #hasBegunMessage = false;
  /** The id of the message that is partly reported; empty for none. */
  #openMessageId = '';
  readonly #progress = new UnreportedProgress();

  constructor(claimed: ClaimedTurn, trace: Trace, intervals: ReportIntervals, now: number) {
    this.#traceparent = trace.sampled ? traceparent(trace) : '';
    this.#lease = { sessionId: claimed.sessionId, turnId: claimed.turnId, fence: claimed.fence };
    this.#pace = new ReportPace(intervals, claimed.followed);
    this.#startedAt = now;
    this.#lastReportAt = now;
    this.#activeSince = now;
  }

  /** Throws PAYLOAD_TOO_LARGE when the event does not fit into a message between services. */
  add<T extends EventType>(type: T, data: EventData<T>, open?: string): void {
    this.#events.add(type, data, open);
  }

  addUsage(usage: Partial<Usage>): void {
    this.#usage = addUsage(this.#usage, usage);
  }

  /** Sets the newest estimate of the model's input. It includes all events so far. */
  setContext(estimate: NewContextEstimate): void {
    this.#context.set(estimate, this.#events.added);
  }

  /**
   * Begins a model request. Reports have its estimate until `finishModelRequest`, so that it counts when the lease is
   * lost. `estimate` is called for a report only: most requests end before one.
   */
  beginModelRequest(data: EventData<'model.request_started'>, estimate: () => OpenModelRequest): void {
    this.add('model.request_started', data);
    this.#openModelRequest = estimate;
  }

  /** Ends the model request and adds its usage. */
  finishModelRequest(data: EventData<'model.request_finished'>, usage: Partial<Usage>): void {
    this.#openModelRequest = undefined;
    this.addUsage(usage);
    this.add('model.request_finished', data);
  }

  /** Begins a message. It ends with `completeMessage` or `discardMessage`. */
  beginMessage(messageId: string): void {
    this.#messageId = messageId;
    this.#text = new DeltaBuffer();
    this.#hasBegunMessage = false;
  }

  addText(delta: string, now: number): void {
    this.#text.add(delta, now);
  }

  addThinking(text: string): void {
    const content: MessagePart[] = [{ type: 'text', text }];
    this.add('agent.thinking', { message_id: this.#messageId, content }, this.#messageId);
    this.#hasBegunMessage = true;
  }

  /** Ends the message. Its tool calls are in the same report unless they exceed the size of one. */
  completeMessage(
    data: Omit<EventData<'agent.message'>, 'message_id'>,
    calls: readonly EventData<'agent.tool_use'>[] = [],
  ): void {
    this.add('agent.message', { message_id: this.#messageId, ...data }, '');
    this.beginMessage('');
    this.#events.addWithLast('agent.tool_use', calls);
  }

  /** Ends the message without content. A message without events is dropped silently. */
  discardMessage(reason: string): void {
    if (this.#hasBegunMessage)
      this.add('agent.message_discarded', { message_id: this.#messageId, reason }, '');
    this.beginMessage('');
  }

  /** Whether the current message has an event, reported or not. */
  get hasBegunMessage(): boolean {
    return this.#hasBegunMessage;
  }

  /**
   * Adds progress text of a running tool, of which there is a limit. Returns true for the first text of a call in a
   * followed session: it goes out with the next report, while other texts are collected for an interval.
   */
  addProgress(toolUseId: string, text: string, now: number): boolean {
    const isFirst = this.#progress.add(toolUseId, text, now);
    return isFirst && this.#pace.isFollowed(now);
  }

  /** Adds the result of a call behind the remaining progress of its tool. */
  addResult(data: EventData<'agent.tool_result'>, now: number): void {
    this.#showProgress(data.tool_use_id, now);
    this.#progress.remove(data.tool_use_id);
    this.add('agent.tool_result', data);
  }

  /** Sets the outcome, which ends the last report of the turn. */
  finish(outcome: Outcome): void {
    this.#outcome = outcome;
  }

  /** Drops everything: the lease is lost, so nothing more is reported. */
  close(): void {
    this.#closed = true;
    this.#events.clear();
    this.#text = new DeltaBuffer();
    this.#progress.clear();
    this.#outcome = undefined;
    for (const { resolve } of this.#waiting.splice(0)) resolve(false);
  }

  /** Resolves with true when all events so far are journaled, with false when the lease is lost before. */
  whenJournaled(): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    if (this.#journaled === this.#events.added) return Promise.resolve(true);
    return new Promise((resolve) => this.#waiting.push({ upTo: this.#events.added, resolve }));
  }

  /** A report with this number of events was journaled. */
  acknowledge(events: number): void {
    this.#journaled += events;
    while (this.#waiting[0] && this.#waiting[0].upTo <= this.#journaled) this.#waiting.shift()?.resolve(true);
  }

  /** The session has a follower, according to a hint. Returns whether a report is due because of it. */
  noteFollower(now: number): boolean {
    return this.#pace.hint(now) && this.due(now);
  }

  /** The answer to a report says whether the session has a follower. It applies from the next tick. */
  noteAnswer(isFollowed: boolean): void {
    this.#pace.answer(isFollowed);
  }

  /** Whether a running turn has something to report now. */
  due(now: number): boolean {
    const age = now - this.#startedAt;
    if (this.#closed || age < this.#pace.minimumMs) return false;
    if (this.#events.some((type) => !CAN_WAIT.has(type))) return true;
    if (age < this.#pace.firstMs(now)) return false;
    if (this.#events.length > 0 && now - this.#lastReportAt >= this.#pace.nextMs(now)) return true;
    if (this.#isDue(this.#text, now)) return true;
    return this.#progress.dueCalls((text) => this.#isDue(text, now)).length > 0;
  }

  #isDue(buffer: DeltaBuffer, now: number): boolean {
    return buffer.due(now, this.#pace.firstMs(now), this.#pace.nextMs(now));
  }

  /** Whether a report can be taken without waiting for the interval. */
  get hasPendingReport(): boolean {
    return this.#events.length > 0 || this.#outcome !== undefined;
  }

  /**
   * Removes and returns the next report: the events that fit into `maxBytes`, at least one when the report is
   * the `first` of its batch, and the outcome if it is the last report. Reports are numbered, so repeating one is safe.
   */
  nextReport(now: number, maxBytes: number, first: boolean): SizedReport | undefined {
    if (this.#closed) return undefined;
    if (this.#isDue(this.#text, now)) this.#cutDelta(now);
    const isFollowed = this.#pace.isFollowed(now);
    const isDue = (text: DeltaBuffer) => (isFollowed && text.deltas === 0) || this.#isDue(text, now);
    for (const id of this.#progress.dueCalls(isDue)) this.#showProgress(id, now);
    const taken = this.#events.take(maxBytes - REPORT_BYTES, first);
    const { events, openMessageId = this.#openMessageId } = taken;
    const bytes = REPORT_BYTES + taken.bytes;
    this.#openMessageId = openMessageId;
    const outcome = this.#events.length === 0 ? this.#outcome : undefined;
    if (events.length === 0 && (!outcome || (bytes > maxBytes && !first))) return undefined;
    if (outcome) this.#outcome = undefined;
    this.#reports++;
    this.#lastReportAt = now;
    const { sessionId, turnId, fence } = this.#lease;
    const report: TurnReport = {
      sessionId,
      turnId,
      fence,
      events,
      openMessageId,
      usage: this.#takeUsage(now),
      openModelRequest: this.#openModelRequest?.(),
      outcome,
      context: this.#context.take(events.length),
      reportSeq: this.#reports,
      // Reports with previews only, up to forty per second while a model streams, would flood the trace.
      traceparent: outcome || events.some(({ type }) => !PREVIEWS.has(type)) ? this.#traceparent : '',
    };
    return { report, bytes };
  }

  #cutDelta(now: number): void {
    const index = this.#text.deltas;
    const delta = this.#text.cut(now);
    if (delta === undefined) return;
    this.add('agent.message_delta', { message_id: this.#messageId, index, delta }, this.#messageId);
    this.#hasBegunMessage = true;
  }

  #showProgress(toolUseId: string, now: number): void {
    const delta = this.#progress.cut(toolUseId, now);
    if (delta !== undefined) this.add('agent.tool_progress', { tool_use_id: toolUseId, output_delta: delta });
  }

  #takeUsage(now: number): Usage {
    const usage = { ...this.#usage, activeMs: Math.max(0, now - this.#activeSince) };
    this.#usage = { ...NO_USAGE };
    this.#activeSince = now;
    return usage;
  }
}

const PREVIEWS = new Set(['agent.message_delta', 'agent.tool_progress']);
/** Events that wait for the interval. Other events are reported with the next tick at the latest. */
const CAN_WAIT = new Set([...PREVIEWS, 'model.request_started', 'agent.thinking']);
