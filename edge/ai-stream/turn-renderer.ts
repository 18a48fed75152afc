import { finishReasonOf, type UiChunk, type UiFinishReason } from './chunks.ts';
import type { TurnEvent } from './journal.ts';
import { MessageParts } from './message-parts.ts';
import { ToolCalls } from './tool-calls.ts';
import type { TurnFold } from './turn-fold.ts';

/**
 * Renders one turn of a journal as one message. The message depends on the events of the turn only, so a client that
 * reconnects gets the same message. A step of the message contains one model step and its tool calls. The parts of a
 * discarded attempt are removed, and the next attempt is rendered in the same step.
 */
export class TurnRenderer implements TurnFold {
  /** The turn whose events are rendered. */
  #turnId: string;
  readonly #messageId: string;
  readonly #messageSeq: number | undefined;
  readonly #partsUrl: string;
  readonly #calls: ToolCalls;
  /** The message that the model is writing. */
  #message: MessageParts | undefined;
  /** A `due` step is started with its first part, because clients drop steps without parts. An `empty` step was reset. */
  #step: 'none' | 'due' | 'open' | 'empty' = 'none';
  #finishReason: UiFinishReason = 'stop';
  #blocked = false;
  #ended = false;

  /**
   * `partsUrl` is the URL of the folder from which the bytes of images and files are read. `messageSeq` is the seq of the message
   * of the turn: if it is delivered into a running turn, the events of that turn are rendered from there on.
   */
  constructor(turnId: string, partsUrl: string, messageSeq?: number) {
    this.#turnId = turnId;
    this.#messageId = turnId;
    this.#messageSeq = messageSeq;
    this.#partsUrl = partsUrl;
    this.#calls = new ToolCalls(partsUrl);
  }

  get ended(): boolean {
    return this.#ended;
  }

  get waiting(): boolean {
    return this.#blocked && this.#calls.waiting;
  }

  /** The first chunks of a stream. The id of the message is the id of the turn. */
  begin(): UiChunk[] {
    return [{ type: 'start', messageId: this.#messageId }];
  }

  reopen(): UiChunk[] {
    return [...this.#calls.reopen(), ...(this.#message?.reopen() ?? [])];
  }

  pause(): UiChunk[] {
    return [...this.#endStep(), { type: 'finish', finishReason: 'tool-calls' }];
  }

  render(event: TurnEvent): UiChunk[] {
    if (event.type === 'session.deleted') return this.#end([{ type: 'abort', reason: 'session_deleted' }]);
    if (event.type === 'user.message_delivered' && event.data.message_seq === this.#messageSeq)
      this.#turnId = event.data.turn_id;
    if (event.turn_id !== this.#turnId || this.#ended) return [];
    switch (event.type) {
      case 'agent.message_delta':
        return this.#write(event.data.message_id, (parts) => parts.delta(event.data.delta));
      case 'agent.thinking':
        return this.#write(event.data.message_id, (parts) => parts.thought(event.data.content));
      case 'agent.message': {
        const chunks = this.#write(event.data.message_id, (parts) => parts.end(event.data.content));
        this.#message = undefined;
        this.#finishReason = finishReasonOf(event.data.finish_reason);
        return chunks;
      }
      case 'agent.message_discarded':
        return this.#discard(event.data.message_id);
      case 'agent.tool_use':
        return this.#show(this.#calls.used(event.data));
      case 'agent.tool_dispatched':
        return this.#calls.dispatched(event.data);
      case 'agent.tool_progress':
        return this.#calls.progress(event.data);
      case 'agent.tool_result':
        return this.#calls.ended(event.data);
      case 'approval.requested':
        return this.#calls.requested(event.data);
      case 'approval.decided':
        return this.#calls.decided(event.data);
      case 'session.error':
        return retryOf(event.data);
      case 'user.message_delivered':
        return [];
      case 'turn.started':
        this.#blocked = false;
        return [];
      case 'turn.blocked':
        this.#blocked = true;
        return [];
      case 'turn.completed':
        return this.#end([{ type: 'finish', finishReason: this.#finishReason }]);
      case 'turn.failed': {
        const errorText = event.data.error.message;
        return this.#end([
          { type: 'error', errorText },
          { type: 'finish', finishReason: 'error' },
        ]);
      }
      case 'turn.interrupted':
        return this.#end([{ type: 'abort', reason: 'interrupted' }]);
      case 'turn.cancelled':
        return this.#end([{ type: 'abort', reason: event.data.reason }]);
    }
  }

  #write(messageId: string, write: (parts: MessageParts) => UiChunk[]): UiChunk[] {
    if (this.#message?.messageId === messageId) return this.#show(write(this.#message));
    const before: UiChunk[] = this.#step === 'open' ? [{ type: 'finish-step' }] : [];
    if (this.#step !== 'empty') this.#step = 'due';
    this.#message = new MessageParts(messageId, this.#partsUrl);
    return [...before, ...this.#show(write(this.#message))];
  }

  #show(parts: UiChunk[]): UiChunk[] {
    if (parts.length === 0) return [];
    const begins = this.#step === 'none' || this.#step === 'due';
    this.#step = 'open';
    return begins ? [{ type: 'start-step' }, ...parts] : parts;
  }

  #discard(messageId: string): UiChunk[] {
    if (this.#message?.messageId !== messageId) return [];
    this.#message = undefined;
    if (this.#step !== 'open') return [];
    this.#step = 'empty';
    return [{ type: 'reset-step' }];
  }

  #end(last: UiChunk[]): UiChunk[] {
    if (this.#ended) return [];
    this.#ended = true;
    return [...this.#endStep(), ...last];
  }

  #endStep(): UiChunk[] {
    return this.#step === 'open' || this.#step === 'empty' ? [{ type: 'finish-step' }] : [];
  }
}

type SessionError = Extract<TurnEvent, { type: 'session.error' }>['data'];

/** A notice for an error that is retried. Errors that end the turn are rendered with its end. */
function retryOf({ error, retry_status, next_attempt_at }: SessionError): UiChunk[] {
  if (retry_status !== 'retrying') return [];
  const next = next_attempt_at === undefined ? {} : { next_attempt_at };
  return [{ type: 'data-retry', transient: true, data: { ...error, ...next } }];
}
