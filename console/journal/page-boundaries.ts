import { type DurableEvent, isFileType } from './event.ts';

const TURN_END = /^turn\.(completed|failed|interrupted|cancelled)$/;
/** Events that only a turn in progress has. */
const TURN_WORK = /^(agent|model|approval)\.|^turn\.(started|blocked)$/;

/** The first event of a turn that replaces an answer or compacts. That of any other turn is its message. */
const isQueuedWithoutMessage = (event: DurableEvent): boolean =>
  event.type === 'turn.queued' &&
  (event.data.kind === 'compaction' || event.data.replaces_turn_id !== undefined);

/** Number of events other than file events. A session may have thousands of those without a message between them. */
export const countWithoutFiles = (events: readonly DurableEvent[]) =>
  events.reduce((count, { type }) => count + (isFileType(type) ? 0 : 1), 0);

/**
 * Returns the index in `earlier` where a page begins whose turns are complete at the beginning, when the events `later`
 * follow: the latest index with at least `least` events other than file events. Undefined when there is none.
 */
export function pageStart(
  earlier: readonly DurableEvent[],
  later: readonly DurableEvent[],
  least: number,
): number | undefined {
  /** Turns without their first event. */
  const incomplete = new Set<string>();
  const visit = (event: DurableEvent) => {
    const { turn_id: turnId } = event;
    if (turnId === undefined) return;
    if (event.type === 'user.message' || isQueuedWithoutMessage(event)) incomplete.delete(turnId);
    else incomplete.add(turnId);
  };
  for (const event of later.toReversed()) visit(event);
  let count = 0;
  for (let index = earlier.length - 1; index >= 0; index--) {
    const event = earlier[index];
    if (!event) continue;
    visit(event);
    if (!isFileType(event.type)) count++;
    if (incomplete.size === 0 && count >= least) return index;
  }
  return undefined;
}

/**
 * Returns the number of events after which a page ends whose turns are complete at the end: the smallest one that is at least
 * `least`, file events not counted. Undefined when there is none.
 */
export function pageEnd(events: readonly DurableEvent[], least: number): number | undefined {
  const running = new Set<string>();
  let count = 0;
  for (const [index, { type, turn_id: turnId }] of events.entries()) {
    if (turnId !== undefined && TURN_WORK.test(type)) running.add(turnId);
    if (turnId !== undefined && TURN_END.test(type)) running.delete(turnId);
    if (!isFileType(type)) count++;
    if (running.size === 0 && count >= least) return index + 1;
  }
  return undefined;
}
