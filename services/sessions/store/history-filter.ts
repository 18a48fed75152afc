import type { JournalEvent } from './journal.ts';

/**
 * The columns of a turn `t` that changes what later turns get of the history, as one text: the id of a turn that was
 * removed from the queue, or of a compaction that has no effect any more; the ids of a replaced turn and of the turn that replaces it; or of a turn whose message was
 * delivered, its id, that of the turn that got the message, and the seqs of the message and of its delivery.
 */
export const HISTORY_CHANGE = `case
  when t.removed then t.turn_id
  when t.delivered_seq is not null then concat_ws(' ', t.turn_id, t.steers_turn_id, t.position, t.delivered_seq)
  else t.replaces_turn_id || ' ' || t.turn_id end`;
/** The condition of these turns. The index uses exactly this condition. */
export const CHANGES_HISTORY = '(t.removed or t.replaces_turn_id is not null or t.delivered_seq is not null)';

const TURN_ID = '"turn_id":"';
const SEQ = '"seq":';

/** A message that was delivered into a running turn. */
export interface DeliveredMessage {
  /** The seq of the message. */
  messageSeq: number;
  /** The seq of its delivery: the place of the message in the history. */
  deliveredSeq: number;
  turnId: string;
}

/**
 * Selects the part of a history that later turns get. The message and the compaction of a removed turn are left out. Of a replaced turn,
 * everything but the message of the user is left out, and the message belongs to the turn that replaces it. A message that
 * was delivered into a running turn is at the place of its delivery and belongs to that turn.
 */
export class HistoryFilter {
  readonly #removed = new Set<string>();
  /** The ids of the turns that replace others, by the ids of those. */
  readonly #replacements = new Map<string, string>();
  /** In the order of their delivery. */
  readonly #delivered: DeliveredMessage[] = [];
  readonly #deliveredSeqs = new Set<number>();

  /** The texts of `HISTORY_CHANGE`. */
  constructor(changes: readonly string[]) {
    for (const text of changes) {
      const [turnId = '', other, messageSeq, deliveredSeq] = text.split(' ');
      if (other === undefined) this.#removed.add(turnId);
      else if (messageSeq === undefined) this.#replacements.set(turnId, other);
      else this.#addDelivered({ messageSeq, deliveredSeq, turnId: other });
    }
    this.#delivered.sort((a, b) => a.deliveredSeq - b.deliveredSeq);
  }

  #addDelivered(message: { messageSeq: string; deliveredSeq: string | undefined; turnId: string }): void {
    const messageSeq = Number(message.messageSeq);
    this.#delivered.push({ messageSeq, deliveredSeq: Number(message.deliveredSeq), turnId: message.turnId });
    this.#deliveredSeqs.add(messageSeq);
  }

  /** Selects events in the order of their seqs. Delivered messages are left out: `place` puts them in. */
  apply(events: readonly JournalEvent[]): JournalEvent[] {
    if (this.#removed.size + this.#replacements.size + this.#delivered.length === 0) return [...events];
    return events.flatMap((event) => (this.#deliveredSeqs.has(event.seq) ? [] : this.#select(event)));
  }

  /** The messages whose delivery is after `afterSeq` and not after `upToSeq`, in the order of their delivery. */
  deliveredBetween(afterSeq: number, upToSeq: number): DeliveredMessage[] {
    return this.#delivered.filter(({ deliveredSeq: seq }) => seq > afterSeq && seq <= upToSeq);
  }

  /** Puts delivered messages, by their seq, at the places of their delivery among selected events. */
  place(
    selected: readonly JournalEvent[],
    delivered: readonly DeliveredMessage[],
    messages: ReadonlyMap<number, JournalEvent>,
  ): JournalEvent[] {
    if (delivered.length === 0) return [...selected];
    const placed = delivered.flatMap((message) => {
      const event = messages.get(message.messageSeq);
      return event ? [deliveredEvent(event, { ...message, turnId: this.#newest(message.turnId) })] : [];
    });
    return [...selected, ...placed].sort((a, b) => a.seq - b.seq);
  }

  #select(event: JournalEvent): JournalEvent[] {
    const { turn_id: turnId = '' } = JSON.parse(event.json) as { turn_id?: string };
    const isMessage = event.type === 'user.message';
    if (this.#removed.has(turnId)) return [];
    const newest = this.#newest(turnId);
    if (newest === turnId) return [event];
    // The first occurrence is the member of the event. `data` is its last member.
    const json = event.json.replace(`${TURN_ID}${turnId}"`, `${TURN_ID}${newest}"`);
    return isMessage ? [{ ...event, json }] : [];
  }

  /** An answer can be replaced several times. */
  #newest(turnId: string): string {
    const replacement = this.#replacements.get(turnId);
    return replacement === undefined ? turnId : this.#newest(replacement);
  }
}

/** Returns a message as an event of the turn that it was delivered into, at the place of the delivery. */
export function deliveredEvent(
  { seq, type, json }: JournalEvent,
  { deliveredSeq, turnId }: DeliveredMessage,
): JournalEvent {
  const begin = json.indexOf(TURN_ID) + TURN_ID.length;
  // The members before `data` are those of the event.
  const moved = json.slice(0, begin).replace(`${SEQ}${seq},`, `${SEQ}${deliveredSeq},`);
  return { seq: deliveredSeq, type, json: moved + turnId + json.slice(json.indexOf('"', begin)) };
}

/** Leaves nothing out. */
export const WHOLE_HISTORY = new HistoryFilter([]);
