import type { EventData } from '../../lib/events.ts';
import type { HistoryEvent, TurnEvent } from './journal.ts';
import { MessageBuilder, type UiMessage } from './message-builder.ts';
import { TurnRenderer } from './turn-renderer.ts';
import { userParts } from './user-parts.ts';

/** The history of a page has at most about this many bytes of events. A longer turn is a page of its own. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The answer of a turn. */
interface Answer {
  turnId: string;
  renderer: TurnRenderer;
  message: MessageBuilder;
  /** The answer that this one replaces. */
  replaced: Answer | undefined;
}

/** What a user has sent, and the newest answer to it. */
interface Exchange {
  messages: UiMessage[];
  answer: Answer;
  bytes: number;
  /** A fork has copied the turn: the journal has its messages, but not the other events. */
  isCopied: boolean;
}

interface ChatPage {
  messages: UiMessage[];
  /** The turn before which the next older page ends. Undefined when there is no older message. */
  olderBefore: string | undefined;
}

/**
 * Folds a journal into the chat that a model sees: removed turns are left out, and a replaced answer gives way to the new
 * one. Answers are rendered like streams. Only the newest messages before `before` are kept.
 */
export class ChatHistory {
  /** By the id of the turn whose answer is the newest, in the order of the messages. */
  readonly #exchanges = new Map<string, Exchange>();
  readonly #before: string | undefined;
  readonly #partsUrl: string;
  /** The turns of messages, by the seq of the message. */
  readonly #bySeq = new Map<number, string>();
  #isAfterPage = false;
  #bytes = 0;
  #hasOlder = false;

  /** `before` is the id of the turn before which the page ends; undefined for the newest page. */
  constructor(before: string | undefined, partsUrl: string) {
    this.#before = before;
    this.#partsUrl = partsUrl;
  }

  add(event: HistoryEvent, bytes: number): void {
    const { turn_id: turnId } = event;
    if (turnId === undefined) return;
    if (event.type === 'user.message') this.#begin(turnId, event);
    else if (event.type === 'turn.queued') this.#queue(turnId, event.data);
    else if (event.type === 'user.message_delivered') this.#deliver(turnId, event.data.message_seq);
    else if (event.type === 'turn.cancelled' && event.data.reason === 'removed') this.#remove(turnId);
    else this.#render(turnId, event);
    const exchange = this.#exchanges.get(turnId);
    if (!exchange) return;
    exchange.bytes += bytes;
    this.#bytes += bytes;
    this.#dropOldest();
  }

  page(): ChatPage {
    const messages = [...this.#exchanges.values()].flatMap(({ messages: sent, answer }) => {
      const { parts } = answer.message;
      return parts.length === 0 ? sent : [...sent, { id: answer.turnId, role: 'assistant' as const, parts }];
    });
    const [oldest] = this.#exchanges.keys();
    return { messages, olderBefore: this.#hasOlder ? oldest : undefined };
  }

  #newAnswer(turnId: string, replaced: Answer | undefined): Answer {
    const renderer = new TurnRenderer(turnId, this.#partsUrl);
    return { turnId, renderer, message: new MessageBuilder(), replaced };
  }

  #begin(turnId: string, { event_id: id, seq, data }: Extract<HistoryEvent, { type: 'user.message' }>): void {
    this.#bySeq.set(seq, turnId);
    this.#isAfterPage ||= turnId === this.#before;
    const message: UiMessage = { id, role: 'user', parts: userParts(data.content, this.#partsUrl) };
    const known = this.#exchanges.get(turnId);
    if (known) known.messages.push(message);
    else if (!this.#isAfterPage)
      this.#exchanges.set(turnId, {
        messages: [message],
        answer: this.#newAnswer(turnId, undefined),
        bytes: 0,
        isCopied: true,
      });
  }

  #queue(turnId: string, { replaces_turn_id: replacedId }: EventData<'turn.queued'>): void {
    if (replacedId === undefined) {
      const exchange = this.#exchanges.get(turnId);
      if (exchange) exchange.isCopied = false;
      return;
    }
    // The page of a replaced turn begins with the id of the newest one.
    if (turnId === this.#before) {
      this.#isAfterPage = true;
      for (const id of idsFrom(this.#exchanges, replacedId)) this.#exchanges.delete(id);
      return;
    }
    this.#rename(replacedId, turnId, (exchange) => {
      exchange.answer = this.#newAnswer(turnId, exchange.answer);
      exchange.isCopied = false;
    });
  }

  /** A delivered message stands with the message that began the turn, before the whole answer of the turn. */
  #deliver(turnId: string, messageSeq: number): void {
    const steering = this.#bySeq.get(messageSeq);
    const from = steering === undefined ? undefined : this.#exchanges.get(steering);
    if (steering === undefined || !from) return;
    this.#exchanges.delete(steering);
    const into = this.#exchanges.get(turnId);
    if (into) {
      into.messages.push(...from.messages);
      into.bytes += from.bytes;
    } else this.#bytes -= from.bytes;
  }

  #remove(turnId: string): void {
    const exchange = this.#exchanges.get(turnId);
    if (!exchange) return;
    const { replaced } = exchange.answer;
    if (!replaced) {
      this.#exchanges.delete(turnId);
      this.#bytes -= exchange.bytes;
    } else
      this.#rename(turnId, replaced.turnId, () => {
        exchange.answer = replaced;
      });
  }

  /** Gives an exchange another key in the same place. */
  #rename(from: string, to: string, change: (exchange: Exchange) => void): void {
    const exchange = this.#exchanges.get(from);
    if (!exchange) return;
    change(exchange);
    const entries = [...this.#exchanges];
    this.#exchanges.clear();
    for (const [id, kept] of entries) this.#exchanges.set(id === from ? to : id, kept);
  }

  #render(turnId: string, event: TurnEvent): void {
    const exchange = this.#exchanges.get(turnId);
    if (!exchange) return;
    const { renderer, message } = exchange.answer;
    const calls = exchange.isCopied && event.type === 'agent.message' ? toolUsesOf(event) : [];
    for (const one of [event, ...calls]) for (const chunk of renderer.render(one)) message.add(chunk);
  }

  #dropOldest(): void {
    for (const [turnId, { bytes }] of this.#exchanges) {
      if (this.#bytes <= MAX_BYTES || this.#exchanges.size === 1) return;
      this.#exchanges.delete(turnId);
      this.#bytes -= bytes;
      this.#hasOlder = true;
    }
  }
}

function idsFrom(exchanges: ReadonlyMap<string, Exchange>, first: string): string[] {
  const ids = [...exchanges.keys()];
  const index = ids.indexOf(first);
  return index < 0 ? [] : ids.slice(index);
}

/** The `agent.tool_use` events that a fork does not copy, by the message that requested them. */
function toolUsesOf({ seq, turn_id = '', data }: Extract<TurnEvent, { type: 'agent.message' }>): TurnEvent[] {
  return data.content.flatMap((part): TurnEvent[] => {
    const { type, toolCallId, toolName, input } = part as Record<string, unknown>;
    if (type !== 'tool-call') return [];
    const call = { tool_use_id: String(toolCallId), name: String(toolName), input };
    return [{ seq, type: 'agent.tool_use', turn_id, data: { ...call, evaluated_permission: '' } }];
  });
}
