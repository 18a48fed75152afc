import type { StopReason } from '../../../lib/event-parts.ts';
import type { EventType } from '../../../lib/event-types.ts';
import type { EventData } from '../../../lib/events.ts';
import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

const TYPES = [
  'agent.message',
  'agent.message_delta',
  'agent.message_discarded',
  'session.status_idle',
  'session.deleted',
  'turn.started',
  'turn.blocked',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
] as const satisfies readonly EventType[];

/** The event types of which an answer is made. */
export const ANSWER_TYPES: string[] = [...TYPES];

type AnswerType = (typeof TYPES)[number];
type AnswerEvent = {
  [Type in AnswerType]: { seq: number; type: Type; turn_id?: string; data: EventData<Type> };
}[AnswerType];

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  /** A part of the input. */
  cachedTokens: number;
  /** A part of the output. */
  reasoningTokens: number;
}

/** How a turn has ended. */
export type TurnEnd =
  | { kind: 'completed'; usage: TokenUsage }
  | { kind: 'failed'; usage: TokenUsage; message: string; code: string }
  | { kind: 'interrupted'; usage: TokenUsage };

/** The text that an answer gains with an event. */
export interface AnswerText {
  seq: number;
  text: string;
}

export const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };

/** Folds the events of one turn into its answer: the texts of all steps, without the work of tools. */
export class AnswerFold {
  readonly #turnId: string;
  readonly #isStructured: boolean;
  #lastMessage = '';
  /** Of the message that is being written: its id, and how many characters of it the answer has. */
  #messageId: string | undefined;
  #written = 0;
  #text = '';
  end: TurnEnd | undefined;
  /** Why the session stopped after the turn, for example `max_steps_reached`. */
  stopReason: StopReason['type'] | undefined;
  /** Whether the turn waits for a person or the client. */
  isWaiting = false;
  /** The seq of the newest event of the turn. */
  lastSeq = 0;

  /**
   * With `isStructured`, the answer is the last message alone, and has text only at its end: a message that does not match
   * the schema is followed by another one.
   */
  constructor(turnId: string, { isStructured = false } = {}) {
    this.#turnId = turnId;
    this.#isStructured = isStructured;
  }

  /** The whole answer so far. */
  get text(): string {
    return this.#text;
  }

  /** Adds the next event of the session. Returns the text that it adds. */
  add({ json }: Event): AnswerText | undefined {
    const event: AnswerEvent = JSON.parse(json);
    if (event.type === 'session.status_idle') {
      if (this.end) this.stopReason ??= event.data.stop_reason.type;
      return undefined;
    }
    if (event.type === 'session.deleted') {
      this.end ??= { kind: 'interrupted', usage: NO_USAGE };
      return undefined;
    }
    if (event.turn_id !== this.#turnId && turnIdOf(event) !== this.#turnId) return undefined;
    this.lastSeq = event.seq;
    const text = this.#textOf(event);
    return text === '' ? undefined : { seq: event.seq, text };
  }

  #textOf(event: AnswerEvent): string {
    switch (event.type) {
      case 'agent.message_delta':
        if (this.#isStructured) return '';
        return this.#write(event.data.message_id, event.data.delta);
      case 'agent.message': {
        const whole = event.data.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
        if (this.#isStructured) {
          this.#lastMessage = whole;
          return '';
        }
        // A message that was complete within one report has no deltas.
        const written = this.#messageId === event.data.message_id ? this.#written : 0;
        const text = this.#write(event.data.message_id, whole.slice(written));
        this.#messageId = undefined;
        return text;
      }
      case 'agent.message_discarded':
        // The client has the text. What replaces it follows.
        this.#messageId = undefined;
        return '';
      case 'turn.started':
        this.isWaiting = false;
        return '';
      case 'turn.blocked':
        this.isWaiting = true;
        return '';
      case 'turn.completed':
        this.end = { kind: 'completed', usage: usageOf(event.data.usage) };
        this.#text += this.#lastMessage;
        return this.#lastMessage;
      case 'turn.failed':
        this.end = { kind: 'failed', usage: usageOf(event.data.usage), ...event.data.error };
        return '';
      case 'turn.interrupted':
        this.end = { kind: 'interrupted', usage: usageOf(event.data.usage) };
        return '';
      case 'turn.cancelled':
        this.end = { kind: 'interrupted', usage: NO_USAGE };
        return '';
      default:
        return '';
    }
  }

  #write(messageId: string, text: string): string {
    if (text === '') return '';
    const isNew = this.#messageId !== messageId;
    if (isNew) this.#written = 0;
    this.#messageId = messageId;
    this.#written += text.length;
    const added = isNew && this.#text !== '' ? `\n\n${text}` : text;
    this.#text += added;
    return added;
  }
}

function turnIdOf({ data }: AnswerEvent): string | undefined {
  return 'turn_id' in data ? data.turn_id : undefined;
}

function usageOf(usage: EventData<'turn.completed'>['usage']): TokenUsage {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cachedTokens: usage.cached_input_tokens ?? 0,
    reasoningTokens: usage.reasoning_tokens ?? 0,
  };
}
