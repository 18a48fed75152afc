import type { JournalEvent } from './journal.ts';

/** The members of `agent.context_compacted` that say which events are left out. */
interface Compaction {
  strategy: string;
  to_seq: number;
  kept: number[];
}

/** The compactions in force of a history: the newest one that leaves events out, and those behind it. */
export class HistoryContext {
  /** Oldest first. */
  readonly compactions: readonly JournalEvent[];
  /** The events up to this seq are left out, except for `keptSeqs`; 0 without such a compaction. */
  readonly afterSeq: number;
  readonly keptSeqs: readonly number[];
  /** The newest seq whose event or output is left out; 0 without a compaction. */
  readonly shortenedUpTo: number;

  /** Events of all types, in any order. */
  constructor(events: readonly JournalEvent[]) {
    const found = events
      .filter(({ type }) => type === 'agent.context_compacted')
      .sort((one, other) => one.seq - other.seq)
      .map((event) => ({ event, data: (JSON.parse(event.json) as { data: Compaction }).data }));
    const index = found.findLastIndex(({ data }) => data.strategy !== 'drop_tool_results');
    const cut = found[index]?.data;
    this.compactions = found.slice(Math.max(0, index)).map(({ event }) => event);
    this.afterSeq = cut?.to_seq ?? 0;
    this.keptSeqs = cut?.kept ?? [];
    this.shortenedUpTo = found.reduce((newest, { data }) => Math.max(newest, data.to_seq), 0);
  }
}
