import { durationText } from '../parts/text/duration.ts';
import type { DurableEvent } from './event.ts';

/** Consecutive retries of a turn after the same error. */
export interface RetrySeries {
  /** Sequence numbers of its events. The first one is the first error. */
  seqs: number[];
  /** Error code. */
  code: string;
  /** Number of times that the turn was started again. */
  count: number;
  /** Time of the first error, in Unix milliseconds. */
  start: number;
  /** Time of the last restart; undefined before the first one. */
  end: number | undefined;
  /** The turn ended while it waited for a restart. */
  isAbandoned: boolean;
}

const TURN_END = /^turn\.(completed|failed|interrupted|cancelled)$/;

/** Returns the retries of all turns. A message or a tool result ends a series, because it is progress. */
export function retriesOf(events: readonly DurableEvent[]): RetrySeries[] {
  const all: RetrySeries[] = [];
  /** The current series of each turn, and whether the turn waits for its restart. */
  const open = new Map<string, { series: RetrySeries; isWaiting: boolean }>();
  for (const event of events) {
    const { turn_id: turnId = '', seq } = event;
    const current = open.get(turnId);
    if (event.type === 'session.error') {
      const { code } = event.data.error;
      if (event.data.retry_status !== 'retrying') open.delete(turnId);
      else if (current?.series.code === code) {
        current.series.seqs.push(seq);
        current.isWaiting = true;
      } else {
        const start = Date.parse(event.created_at);
        const series = { seqs: [seq], code, count: 0, start, end: undefined, isAbandoned: false };
        all.push(series);
        open.set(turnId, { series, isWaiting: true });
      }
    } else if (event.type === 'session.status_rescheduled') {
      if (current?.isWaiting) current.series.seqs.push(seq);
    } else if (event.type === 'turn.started') {
      if (!current?.isWaiting) continue;
      current.isWaiting = false;
      current.series.seqs.push(seq);
      current.series.count++;
      current.series.end = Date.parse(event.created_at);
    } else if (event.type === 'agent.message' || event.type === 'agent.tool_result') open.delete(turnId);
    else if (TURN_END.test(event.type)) {
      if (current) current.series.isAbandoned = current.isWaiting;
      open.delete(turnId);
    }
  }
  return all;
}

/** Describes retries in one line: "Model overloaded: retried 2 times, 2.1 s". */
export function retrySummary({ code, count, start, end, isAbandoned }: RetrySeries): string {
  const words = code.replaceAll('_', ' ');
  const cause = words.charAt(0).toUpperCase() + words.slice(1);
  if (end === undefined)
    return `${cause}: ${isAbandoned ? 'the turn ended before the retry' : 'waiting for the retry'}`;
  return `${cause}: retried ${count} ${count === 1 ? 'time' : 'times'}, ${durationText(end - start)}`;
}
