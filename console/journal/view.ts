import type { LastingEvent } from './event.ts';

/** How a stream is doing: what was missed is coming, all is there, the line is down, nothing comes any more. */
export type Link = 'catching_up' | 'live' | 'reconnecting' | 'ended';

/** A message that is being said. */
export interface Draft {
  messageId: string;
  turnId: string | undefined;
  text: string;
  seq: number;
  createdAt: string;
}

/** What is known of a session's events at a moment. It never changes. */
export interface JournalView {
  /** The newest ones, without a gap, oldest first. What only passes is not among them. */
  events: readonly LastingEvent[];
  /** There are older ones. */
  hasEarlier: boolean;
  isLoadingEarlier: boolean;
  /** Why older ones could not be read, the last time. */
  earlierError: Error | undefined;
  drafts: readonly Draft[];
  /** What tools have printed so far, by `callKey`. */
  progress: ReadonlyMap<string, string>;
  /** Of the newest event of all; 0 when there is none yet. */
  lastSeq: number;
  link: 'opening' | Link;
  /** Why nothing comes any more. */
  error: Error | undefined;
}

/** Calls of two turns may have the same id. */
export const callKey = (turnId: string | undefined, toolUseId: string) => `${turnId} ${toolUseId}`;
