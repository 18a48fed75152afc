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

/** What one report says beside its events: ids, usage, outcome. */
const REPORT_BYTES = 512;
/** Text in one delta. A model that is faster than this per report only has a preview that lags. */
const DELTA_CHARS = 256 * 1024;
/** An event has to fit into one message between services, with room for what stands around it. */
export const MAX_EVENT_BYTES = MAX_MESSAGE_BYTES - 256 * 1024;

export interface Taken {
  report: TurnReport;
  bytes: number;
}

interface Queued {
  event: NewEvent;
  bytes: number;
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
  /** The message under way, and its text that no delta holds yet. */
  #messageId = '';
  #text = '';
  #textSince = 0;
  #deltas = 0;
  /** Whether an event of the message under way exists, reported or not. */
  #begun = false;
  /** The message of which sessions knows a part and not yet the end. */
  #openMessageId = '';

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
    this.#events.push({ event: { type, dataJson }, bytes, open });
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
    this.#text = '';
    this.#deltas = 0;
    this.#begun = false;
  }

  text(delta: string, now: number): void {
    if (this.#text === '' && this.#deltas === 0) this.#textSince = now;
    this.#text += delta;
  }

  thinking(text: string): void {
    const data = { message_id: this.#messageId, content: [{ type: 'text', text }] };
    this.add('agent.thinking', data, this.#messageId);
    this.#begun = true;
  }

  /** The message is complete. */
  message(data: Omit<EventData<'agent.message'>, 'message_id'>): void {
    this.add('agent.message', { message_id: this.#messageId, ...data }, '');
    this.begin('');
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

  /** The turn has ended: this comes with its last report. */
  finish(outcome: Outcome): void {
    this.#outcome = outcome;
  }

  /** The lease is lost: nothing of this turn is reported any more. */
  close(): void {
    this.#closed = true;
    this.#events = [];
    this.#text = '';
    this.#outcome = undefined;
  }

  /** Whether there is something to report although the turn goes on. */
  due(now: number): boolean {
    if (this.#closed || now - this.#startedAt < this.#intervalMs) return false;
    return this.#events.length > 0 || this.#deltaDue(now);
  }

  #deltaDue(now: number): boolean {
    return this.#text !== '' && now - this.#textSince >= this.#intervalMs;
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
    if (this.#deltaDue(now)) this.#cutDelta();
    const events: NewEvent[] = [];
    let bytes = REPORT_BYTES;
    for (const { event, bytes: size, open } of this.#events) {
      if (bytes + size > room && !(alone && events.length === 0)) break;
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
      traceparent:
        outcome || events.some(({ type }) => type !== 'agent.message_delta') ? this.#traceparent : '',
    };
    return { report, bytes };
  }

  #cutDelta(): void {
    let end = Math.min(this.#text.length, DELTA_CHARS);
    const last = this.#text.charCodeAt(end - 1);
    // The other half of the character is still to come.
    if (last >= 0xd800 && last <= 0xdbff) end--;
    if (end === 0) return;
    const delta = this.#text.slice(0, end);
    const data = { message_id: this.#messageId, index: this.#deltas, delta };
    this.add('agent.message_delta', data, this.#messageId);
    this.#text = this.#text.slice(end);
    this.#deltas++;
    this.#begun = true;
  }

  #takeUsage(now: number): Usage {
    const usage = { ...this.#usage, activeMs: Math.max(0, now - this.#activeSince) };
    this.#usage = { inputTokens: 0, outputTokens: 0, steps: 0, toolCalls: 0, activeMs: 0 };
    this.#activeSince = now;
    return usage;
  }
}
