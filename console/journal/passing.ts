import type { LastingEvent, PassingEvent } from './event.ts';
import { callKey, type Draft } from './view.ts';

/** Of what a tool has printed, the end is kept: nobody reads more of it while it runs. */
const PROGRESS_CHARS = 100_000;
const TURN_END = /^turn\.(completed|failed|interrupted|cancelled)$/;

/** What is being said and printed at the moment, until it stands whole in an event or its turn is over. */
export class Passing {
  readonly #drafts = new Map<string, Draft>();
  readonly #progress = new Map<string, { turnId: string | undefined; text: string }>();

  get drafts(): Draft[] {
    return [...this.#drafts.values()];
  }

  /** By `callKey`. */
  get progress(): Map<string, string> {
    return new Map(Array.from(this.#progress, ([key, { text }]) => [key, text]));
  }

  add(event: PassingEvent): void {
    const { turn_id: turnId, seq, created_at: createdAt } = event;
    if (event.type === 'agent.message_delta') {
      const { message_id: messageId, delta } = event.data;
      const before = this.#drafts.get(messageId) ?? { messageId, turnId, text: '', seq, createdAt };
      this.#drafts.set(messageId, { ...before, text: before.text + delta });
    } else {
      const key = callKey(turnId, event.data.tool_use_id);
      const text = (this.#progress.get(key)?.text ?? '') + event.data.output_delta;
      this.#progress.set(key, { turnId, text: text.slice(-PROGRESS_CHARS) });
    }
  }

  /** Forgets what an event says whole, or puts an end to. */
  settle(event: LastingEvent): void {
    if (event.type === 'agent.message' || event.type === 'agent.message_discarded')
      this.#drafts.delete(event.data.message_id);
    if (event.type === 'agent.tool_result')
      this.#progress.delete(callKey(event.turn_id, event.data.tool_use_id));
    if (!TURN_END.test(event.type)) return;
    for (const pieces of [this.#drafts, this.#progress])
      for (const [key, { turnId }] of pieces) if (turnId === event.turn_id) pieces.delete(key);
  }
}
