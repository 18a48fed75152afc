import type { FollowResponse } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Piece } from './chunk-writer.ts';
import { readEvent, type TurnEvent } from './journal.ts';
import type { Rendering } from './rendering.ts';

/** Where in its turn a stream begins. */
export interface Place {
  /** Whether the reader has what came of this event already. Asked of every event in order, until one is new. */
  isKnown(event: TurnEvent): boolean;
  /** Whether what is open at this place is said again, for a reader who has lost it. */
  reopens: boolean;
}

export const FROM_THE_BEGINNING: Place = { isKnown: () => false, reopens: false };

/** After the event with this seq. */
export const afterSeq = (seq: number): Place => ({ isKnown: (event) => event.seq <= seq, reopens: true });

/** After the turn has stopped to ask these questions. */
export function afterAsking(approvalIds: ReadonlySet<string>): Place {
  let asked = false;
  let known = true;
  return {
    isKnown(event) {
      if (!known) return false;
      if (event.type === 'approval.requested' && approvalIds.has(event.data.approval_id)) asked = true;
      if (asked && event.type === 'turn.blocked') known = false;
      return true;
    },
    reopens: false,
  };
}

/**
 * A turn from a place on, as it is or as it happens, up to its end or to where it waits for somebody. Nothing at all
 * when it had ended at that place.
 */
export async function* render(
  journal: AsyncIterable<FollowResponse>,
  rendering: Rendering,
  place: Place,
): AsyncGenerator<Piece[]> {
  let begun = false;
  let isBehind = place !== FROM_THE_BEGINNING;
  const begin = (): Piece[] => {
    if (begun) return [];
    begun = true;
    return [{ chunks: [...rendering.begin(), ...(place.reopens ? rendering.reopen() : [])] }];
  };
  for await (const { events, caughtUp } of journal) {
    const pieces = isBehind ? [] : begin();
    for (const event of events.map(readEvent)) {
      isBehind &&= place.isKnown(event);
      if (isBehind) rendering.take(event);
      else pieces.push(...begin(), { chunks: rendering.take(event), seq: event.seq });
      if (!rendering.ended) continue;
      if (begun) yield pieces;
      return;
    }
    if (caughtUp) pieces.push(...begin());
    const rests = caughtUp && rendering.waiting;
    if (rests) pieces.push({ chunks: rendering.pause() });
    if (pieces.length > 0) yield pieces;
    if (rests) return;
  }
}
