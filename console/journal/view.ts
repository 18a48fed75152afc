import type { ChatItem } from './chat-items.ts';
import type { DurableEvent, JournalEvent } from './event.ts';

/** State of the event stream: missed events are arriving, up to date, disconnected, closed for good. */
export type StreamStatus = 'catching_up' | 'live' | 'reconnecting' | 'ended';

/** A message that is being streamed. */
export interface MessageDraft {
  messageId: string;
  turnId: string | undefined;
  text: string;
  seq: number;
  createdAt: string;
}

/** Loaded events without gaps. */
export interface LoadedSection {
  /** Durable events, oldest first. */
  events: readonly DurableEvent[];
  /** The conversation of the events. Unchanged items keep their identity. */
  chat: readonly ChatItem[];
  /** Older events exist that are not loaded. */
  hasEarlier: boolean;
  isLoadingEarlier: boolean;
  /** Error of the last attempt to load older events. */
  earlierError: Error | undefined;
}

/** Events around a linked event. Events that are not loaded follow them. */
export interface Excerpt extends LoadedSection {
  isLoadingLater: boolean;
  /** Error of the last attempt to load newer events. */
  laterError: Error | undefined;
}

/** The event that the page was opened for. */
export type LinkedEvent =
  | { seq: number; state: 'loading' | 'missing' }
  | { seq: number; state: 'loaded'; event: JournalEvent }
  | { seq: number; state: 'failed'; error: Error };

/** An immutable snapshot of the loaded events of a session. Its section ends with the newest event. */
export interface JournalView extends LoadedSection {
  /** Set while the events around the linked event are apart from the newest events. */
  excerpt: Excerpt | undefined;
  linked: LinkedEvent | undefined;
  drafts: readonly MessageDraft[];
  /** Sequence number of the newest event, transient events included; 0 when there is none. */
  lastSeq: number;
  /** Sequence number of the newest file event that arrived since the session was opened; 0 when there is none. */
  lastFileSeq: number;
  streamStatus: 'opening' | StreamStatus;
  /** Error that ended the stream. */
  error: Error | undefined;
}

/** The view of a session whose events have not loaded yet. */
export const EMPTY_VIEW: JournalView = {
  events: [],
  chat: [],
  hasEarlier: false,
  isLoadingEarlier: false,
  earlierError: undefined,
  excerpt: undefined,
  linked: undefined,
  drafts: [],
  lastSeq: 0,
  lastFileSeq: 0,
  streamStatus: 'opening',
  error: undefined,
};

/** Tool calls of different turns may have the same id. */
export const callKey = (turnId: string | undefined, toolUseId: string) => `${turnId} ${toolUseId}`;
