import type { DurableEvent } from './event.ts';

/** Events after which the estimate of the next model request differs. */
const CHANGES =
  /^(turn\.(completed|failed|interrupted|cancelled)|agent\.context_compacted|session\.updated)$/;

/** Returns the seq of the newest event that has changed what the model gets in the next turn; 0 without one. */
export const contextChangedAt = (events: readonly DurableEvent[]): number =>
  events.findLast(({ type }) => CHANGES.test(type))?.seq ?? 0;
