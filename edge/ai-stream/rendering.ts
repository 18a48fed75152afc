import { Calls } from './calls.ts';
import { type Chunk, type FinishReason, finishReasonOf } from './chunks.ts';
import type { TurnEvent } from './journal.ts';
import { Speech } from './speech.ts';

/**
 * Renders one turn of a journal as one message. It depends on the turn's events and on nothing else, so whoever
 * comes back gets the same message. A step of the message is a step of the model and the tools it called; an attempt
 * that is discarded is taken back, and the next one is made in the same step.
 */
export class Rendering {
  readonly #turnId: string;
  readonly #calls = new Calls();
  /** The message of the model that is under way. */
  #speech: Speech | undefined;
  /** `due` is begun with its first part: a reader keeps no step without one. `empty` is begun, and was taken back. */
  #step: 'none' | 'due' | 'open' | 'empty' = 'none';
  #finishReason: FinishReason = 'stop';
  #blocked = false;
  #ended = false;

  constructor(turnId: string) {
    this.#turnId = turnId;
  }

  /** Whether the turn has reached its end. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the turn rests until somebody decides. */
  get waiting(): boolean {
    return this.#blocked && this.#calls.waiting;
  }

  /** How a stream begins. The message is named by its turn. */
  begin(): Chunk[] {
    return [{ type: 'start', messageId: this.#turnId }];
  }

  /** For a reader who comes back: what is still open, so that it can go on. */
  reopen(): Chunk[] {
    return [...this.#calls.reopen(), ...(this.#speech?.reopen() ?? [])];
  }

  /** How a stream ends while the turn waits for somebody. */
  pause(): Chunk[] {
    return [...this.#endStep(), { type: 'finish', finishReason: 'tool-calls' }];
  }

  /** Takes in the next event of the session. Those of other turns change nothing. */
  take(event: TurnEvent): Chunk[] {
    if (event.type === 'session.deleted') return this.#end([{ type: 'abort', reason: 'session_deleted' }]);
    if (event.turn_id !== this.#turnId || this.#ended) return [];
    switch (event.type) {
      case 'agent.message_delta':
        return this.#say(event.data.message_id, (speech) => speech.delta(event.data.delta));
      case 'agent.thinking':
        return this.#say(event.data.message_id, (speech) => speech.thought(event.data.content));
      case 'agent.message': {
        const chunks = this.#say(event.data.message_id, (speech) => speech.end(event.data.content));
        this.#speech = undefined;
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

  #say(messageId: string, say: (speech: Speech) => Chunk[]): Chunk[] {
    if (this.#speech?.messageId === messageId) return this.#show(say(this.#speech));
    const before: Chunk[] = this.#step === 'open' ? [{ type: 'finish-step' }] : [];
    if (this.#step !== 'empty') this.#step = 'due';
    this.#speech = new Speech(messageId);
    return [...before, ...this.#show(say(this.#speech))];
  }

  #show(parts: Chunk[]): Chunk[] {
    if (parts.length === 0) return [];
    const begins = this.#step === 'none' || this.#step === 'due';
    this.#step = 'open';
    return begins ? [{ type: 'start-step' }, ...parts] : parts;
  }

  #discard(messageId: string): Chunk[] {
    if (this.#speech?.messageId !== messageId) return [];
    this.#speech = undefined;
    if (this.#step !== 'open') return [];
    this.#step = 'empty';
    return [{ type: 'reset-step' }];
  }

  #end(last: Chunk[]): Chunk[] {
    if (this.#ended) return [];
    this.#ended = true;
    return [...this.#endStep(), ...last];
  }

  #endStep(): Chunk[] {
    return this.#step === 'open' || this.#step === 'empty' ? [{ type: 'finish-step' }] : [];
  }
}

type SessionError = Extract<TurnEvent, { type: 'session.error' }>['data'];

/** What goes on by itself is no error of the message; the end of a turn speaks for itself. */
function retryOf({ error, retry_status, next_attempt_at }: SessionError): Chunk[] {
  if (retry_status !== 'retrying') return [];
  const next = next_attempt_at === undefined ? {} : { next_attempt_at };
  return [{ type: 'data-retry', transient: true, data: { ...error, ...next } }];
}
