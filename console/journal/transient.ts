import type { DurableEvent, TransientEvent } from './event.ts';
import { callKey, type MessageDraft } from './view.ts';

/** Maximum kept tool output per call, in characters. The beginning is dropped. */
const PROGRESS_CHARS = 100_000;
const TURN_END = /^turn\.(completed|failed|interrupted|cancelled)$/;

/** Partial messages and tool output, kept until a durable event contains them completely or the turn ends. */
export class TransientState {
  readonly #drafts = new Map<string, MessageDraft>();
  readonly #progress = new Map<string, { turnId: string | undefined; text: string }>();

  get drafts(): MessageDraft[] {
    return [...this.#drafts.values()];
  }

  /** Output by `callKey`. */
  get progress(): Map<string, string> {
    return new Map(Array.from(this.#progress, ([key, { text }]) => [key, text]));
  }

  add(event: TransientEvent): void {
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

  /** Drops the partial output that a durable event contains completely or ends. */
  dropSuperseded(event: DurableEvent): void {
    if (event.type === 'agent.message' || event.type === 'agent.message_discarded')
      this.#drafts.delete(event.data.message_id);
    if (event.type === 'agent.tool_result')
      this.#progress.delete(callKey(event.turn_id, event.data.tool_use_id));
    if (!TURN_END.test(event.type)) return;
    for (const entries of [this.#drafts, this.#progress])
      for (const [key, { turnId }] of entries) if (turnId === event.turn_id) entries.delete(key);
  }
}
