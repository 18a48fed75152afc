import type { UiChunk } from './chunks.ts';
import type { TurnEvent } from './journal.ts';
import { RepeatedParts } from './repeated-parts.ts';
import type { TurnFold } from './turn-fold.ts';

type ToolInput = Extract<UiChunk, { type: 'tool-input-available' }>;

/**
 * Renders a turn for AI SDK 6, which has neither `reset-step` nor `tool-approval-response` and fails on unknown chunks.
 *
 * It cannot remove parts. After a discarded attempt, the parts of the next attempt continue those that are shown, as far
 * as they begin alike. A different part is shown behind the discarded one.
 *
 * An approval is shown as the input of the call, which ends the request.
 */
export class Sdk6Renderer implements TurnFold {
  readonly #fold: TurnFold;
  readonly #parts = new RepeatedParts();
  readonly #inputs = new Map<string, ToolInput>();
  /** The ids of calls by the ids of their approval requests. */
  readonly #requests = new Map<string, string>();

  constructor(fold: TurnFold) {
    this.#fold = fold;
  }

  get ended(): boolean {
    return this.#fold.ended;
  }

  get waiting(): boolean {
    return this.#fold.waiting;
  }

  begin(): UiChunk[] {
    return this.#fold.begin();
  }

  reopen(): UiChunk[] {
    return this.#fold.reopen().flatMap((chunk) => {
      if (chunk.type === 'text-start') return [{ ...chunk, id: this.#parts.shownId(chunk.id) }];
      return chunk.type === 'tool-approval-response' ? this.#answered(chunk) : [chunk];
    });
  }

  pause(): UiChunk[] {
    return this.#fold.pause().flatMap((chunk) => this.#convert(chunk));
  }

  render(event: TurnEvent): UiChunk[] {
    return this.#fold.render(event).flatMap((chunk) => this.#convert(chunk));
  }

  #convert(chunk: UiChunk): UiChunk[] {
    if (chunk.type === 'tool-input-available') this.#inputs.set(chunk.toolCallId, chunk);
    if (chunk.type === 'tool-approval-request') this.#requests.set(chunk.approvalId, chunk.toolCallId);
    return chunk.type === 'tool-approval-response' ? this.#answered(chunk) : this.#parts.convert(chunk);
  }

  /** A denial is followed by `tool-output-denied`. */
  #answered({ approvalId, approved }: Extract<UiChunk, { type: 'tool-approval-response' }>): UiChunk[] {
    const input = this.#inputs.get(this.#requests.get(approvalId) ?? '');
    return approved && input ? [input] : [];
  }
}
