import type { EventData } from '../../../lib/events.ts';
import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type MovedResult, movedOutput } from './moved-output.ts';

export type Compaction = EventData<'agent.context_compacted'>;

/** A history without what its compactions leave out. */
export interface CompactedHistory {
  /** The events that the model still gets, in the order of the journal. The outputs of moved results are references. */
  events: Event[];
  /** In place of the events that were left out: a summary, or '' without one. Undefined if none was left out. */
  summary: string | undefined;
  /** The results whose output the model no longer gets, by the seqs of their events. */
  moved: ReadonlyMap<number, MovedResult>;
}

const COMPACTED = 'agent.context_compacted';

/**
 * Applies the compactions of a history: the newest one that leaves events out, and the moved results of all. The result
 * depends on the events only, and not on the places of the compactions among them.
 */
export function applyCompactions(history: readonly Event[]): CompactedHistory {
  const compactions = history
    .filter(({ type }) => type === COMPACTED)
    .sort((one, other) => one.seq - other.seq)
    .map(({ json }) => (JSON.parse(json) as { data: Compaction }).data);
  const cut = compactions.findLast(({ strategy }) => strategy !== 'drop_tool_results');
  const toSeq = cut?.to_seq ?? 0;
  const kept = new Set(cut?.kept);
  const moved = new Map<number, MovedResult>();
  for (const compaction of compactions)
    for (const result of compaction.moved ?? []) moved.set(result.seq, result);
  const events = history
    .filter(({ seq, type }) => type !== COMPACTED && (seq > toSeq || kept.has(seq)))
    .map((event) => {
      const result = moved.get(event.seq);
      return result ? withMovedOutput(event, result) : event;
    });
  return { events, summary: cut && (cut.summary ?? ''), moved };
}

/** The events of which the model's input is built: those that it still gets, behind the summary of the others. */
export function eventsForModel(history: readonly Event[]): Event[] {
  if (!history.some(({ type }) => type === COMPACTED)) return [...history];
  const { events, summary } = applyCompactions(history);
  return summary === undefined ? events : [summaryEvent(summary), ...events];
}

/** The message of the model that takes the place of what was left out. */
export function summaryText(summary: string): string {
  return summary === ''
    ? '[Earlier messages of this conversation are left out because of their length.]'
    : `[Earlier messages of this conversation are left out because of their length. Their summary:]\n\n${summary}`;
}

/** Not the id of a turn: the message is in front of all turns. */
const SUMMARY_TURN = 'summary';

function summaryEvent(summary: string): Event {
  const content = [{ type: 'text', text: summaryText(summary) }];
  const message = { type: 'user.message', turn_id: SUMMARY_TURN, data: { content } };
  return { seq: 0, type: 'user.message', json: JSON.stringify(message) };
}

function withMovedOutput(event: Event, result: MovedResult): Event {
  const message = JSON.parse(event.json);
  const data = { ...message.data, output: movedOutput(message.data.output, result) };
  return { ...event, json: JSON.stringify({ ...message, data }) };
}
