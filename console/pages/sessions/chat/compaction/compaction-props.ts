import type { Compaction } from '../../../../journal/chat.ts';

export interface CompactionProps {
  compaction: Compaction;
  sessionId: string;
  /** Opens the event in the raw view. */
  onRaw: () => void;
}
