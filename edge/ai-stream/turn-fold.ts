import type { UiChunk } from './chunks.ts';
import type { TurnEvent } from './journal.ts';

/** Renders the events of one turn as chunks of one message. */
export interface TurnFold {
  /** Whether the turn has reached its end. */
  readonly ended: boolean;
  /** Whether the turn waits for an approval. */
  readonly waiting: boolean;
  /** The first chunks of a stream. */
  begin(): UiChunk[];
  /** For a client that reconnects: starts every part that is still open. */
  reopen(): UiChunk[];
  /** The last chunks of a stream whose turn waits. */
  pause(): UiChunk[];
  /** Renders the next event of the session. Events of other turns have no chunks. */
  render(event: TurnEvent): UiChunk[];
}
