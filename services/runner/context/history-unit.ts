import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

/** A message of the user, or a step: an answer of the model with the results of its calls. It stays whole. */
export interface HistoryUnit {
  turnId: string;
  isStep: boolean;
  isPinned: boolean;
  events: Event[];
  /** Estimated. */
  tokens: number;
  /** The results whose output is not moved, in the order of the journal. */
  results: UnitResult[];
}

export interface UnitResult {
  /** Of the `agent.tool_result` event. */
  seq: number;
  /** UTF-8 bytes of the output as text. */
  bytes: number;
  /** Estimated, of the output. */
  tokens: number;
}
