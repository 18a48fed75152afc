import type { JournalEvent } from './journal.ts';

/**
 * The columns of a turn `t` that changes what later turns get of the history, as one text: the id of a turn that was
 * removed from the queue, or the ids of a replaced turn and of the turn that replaces it.
 */
export const HISTORY_CHANGE = `case when t.removed then t.turn_id else t.replaces_turn_id || ' ' || t.turn_id end`;
/** The condition of these turns. The index uses exactly this condition. */
export const CHANGES_HISTORY = '(t.removed or t.replaces_turn_id is not null)';

const TURN_ID = '"turn_id":"';

/**
 * Selects the part of a history that later turns get. The message of a removed turn is left out. Of a replaced turn,
 * everything but the message of the user is left out, and the message belongs to the turn that replaces it.
 */
export class HistoryFilter {
  readonly #removed = new Set<string>();
  /** The ids of the turns that replace others, by the ids of those. */
  readonly #replacements = new Map<string, string>();

  /** The texts of `HISTORY_CHANGE`. */
  constructor(changes: readonly string[]) {
    for (const text of changes) {
      const [turnId = '', replacement] = text.split(' ');
      if (replacement === undefined) this.#removed.add(turnId);
      else this.#replacements.set(turnId, replacement);
    }
  }

  apply(events: readonly JournalEvent[]): JournalEvent[] {
    if (this.#removed.size === 0 && this.#replacements.size === 0) return [...events];
    return events.flatMap((event) => this.#select(event));
  }

  #select(event: JournalEvent): JournalEvent[] {
    const { turn_id: turnId = '' } = JSON.parse(event.json) as { turn_id?: string };
    const isMessage = event.type === 'user.message';
    if (isMessage && this.#removed.has(turnId)) return [];
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

/** Leaves nothing out. */
export const WHOLE_HISTORY = new HistoryFilter([]);
