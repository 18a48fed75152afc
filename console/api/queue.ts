import type { Event, Session, UserMessageEvent } from '../gen/types.gen.ts';

/** The message of a turn that has never started. */
export interface QueuedMessage {
  turnId: string;
  seq: number;
  text: string;
  /** The message has content other than text, which the composer cannot edit. */
  hasOtherParts: boolean;
  /** The running turn gets the message before its next step. */
  isSteering: boolean;
  /** The model always gets the message. */
  isPinned: boolean;
}

/** Types of the events that tell which turns wait. */
export const QUEUE_EVENT_TYPES = [
  'user.message',
  'turn.queued',
  'turn.started',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
];

/** Finds the queued turns in the events of QUEUE_EVENT_TYPES, which it receives from the newest to the oldest. */
export class QueueReader {
  readonly #startedOrEnded = new Set<string>();
  readonly #started = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #queued = new Set<string>();
  readonly #steering = new Set<string>();
  readonly #messages: QueuedMessage[] = [];
  #isComplete = false;

  /** Turns start in the order of the queue, so that all turns before a started one have started or ended. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Oldest first. */
  get messages(): QueuedMessage[] {
    return [...this.#messages].reverse();
  }

  add(event: Event): void {
    const { turn_id: turnId, seq } = event;
    if (turnId === undefined) return;
    if (event.type === 'turn.queued') {
      this.#isComplete ||= this.#started.has(turnId);
      if (!this.#startedOrEnded.has(turnId)) this.#queued.add(turnId);
      const { steers_turn_id: steered } = event.data;
      if (steered !== undefined && !this.#ended.has(steered)) this.#steering.add(turnId);
    } else if (event.type === 'user.message') {
      if (this.#queued.has(turnId)) {
        const isSteering = this.#steering.has(turnId);
        this.#messages.push({ turnId, seq, ...contentOf(event.data), isSteering });
      }
    } else {
      this.#startedOrEnded.add(turnId);
      if (event.type === 'turn.started') this.#started.add(turnId);
      else this.#ended.add(turnId);
    }
  }
}

function contentOf({
  content,
  pinned = false,
}: UserMessageEvent['data']): Pick<QueuedMessage, 'text' | 'hasOtherParts' | 'isPinned'> {
  const texts = content.flatMap((part) => (part.type === 'text' ? part.text : []));
  return { text: texts.join(''), hasOtherParts: texts.length < content.length, isPinned: pinned };
}

type QueueFields = Pick<Session, 'status' | 'current_turn_id' | 'queue_held' | 'queued_turns'>;

/**
 * Returns how many turns wait behind another turn or in a held queue. The first turn of the queue does not wait when it
 * starts as soon as a runner is free, or when it is retried.
 */
export function waitingCount(session: QueueFields): number {
  const { status, current_turn_id: current, queue_held: isHeld, queued_turns: queued } = session;
  const isNextStarting = current === null && !isHeld && (status === 'pending' || status === 'rescheduling');
  return Math.max(0, queued - (isNextStarting ? 1 : 0));
}

/** Returns the messages of the waiting turns. */
export function waitingMessages(session: QueueFields, queue: readonly QueuedMessage[]): QueuedMessage[] {
  // A turn that has started before is queued again for a retry, but is not part of `queue`.
  return queue.slice(Math.max(0, queue.length - waitingCount(session)));
}
