import type { FollowResponse } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { RenderedEvent } from './chunk-writer.ts';
import { readEvent, type TurnEvent } from './journal.ts';
import type { TurnFold } from './turn-fold.ts';

/** The position in its turn at which a stream begins. */
export interface StreamPosition {
  /** Whether the client already has the chunks of this event. Called for each event in order, until one is new. */
  isKnown(event: TurnEvent): boolean;
  /** Whether parts that are open at this position are started again, because the client has lost them. */
  reopens: boolean;
}

export const FROM_THE_BEGINNING: StreamPosition = { isKnown: () => false, reopens: false };

/** After the event with this seq. */
export const afterEvent = (seq: number): StreamPosition => ({
  isKnown: (event) => event.seq <= seq,
  reopens: true,
});

/** After the turn has stopped to wait for these approvals and the results of these calls. */
export function afterRequests(
  approvalIds: ReadonlySet<string>,
  toolUseIds: ReadonlySet<string> = new Set(),
): StreamPosition {
  /** Pending approvals of these calls: until they are decided, the turn stops without asking for a result. */
  const approving = new Set<string>();
  let requested = false;
  let known = true;
  return {
    isKnown(event) {
      if (!known) return false;
      switch (event.type) {
        case 'approval.requested':
          if (approvalIds.has(event.data.approval_id)) requested = true;
          else if (toolUseIds.has(event.data.tool_use_id ?? '')) approving.add(event.data.approval_id);
          break;
        case 'approval.decided':
          approving.delete(event.data.approval_id);
          break;
        case 'agent.tool_use':
          if (toolUseIds.has(event.data.tool_use_id)) requested = true;
          break;
        case 'turn.blocked':
          if (requested && approving.size === 0) known = false;
          break;
      }
      return true;
    },
    reopens: false,
  };
}

/**
 * Renders a turn from a position to its end, or until it waits for an answer. Yields nothing if the turn had ended at that
 * position.
 */
export async function* render(
  journal: AsyncIterable<FollowResponse>,
  renderer: TurnFold,
  position: StreamPosition,
): AsyncGenerator<RenderedEvent[]> {
  let begun = false;
  let skipping = position !== FROM_THE_BEGINNING;
  const begin = (): RenderedEvent[] => {
    if (begun) return [];
    begun = true;
    return [{ chunks: [...renderer.begin(), ...(position.reopens ? renderer.reopen() : [])] }];
  };
  for await (const { events, caughtUp } of journal) {
    const rendered = skipping ? [] : begin();
    for (const event of events.map(readEvent)) {
      skipping &&= position.isKnown(event);
      if (skipping) renderer.render(event);
      else rendered.push(...begin(), { chunks: renderer.render(event), seq: event.seq });
      if (!renderer.ended) continue;
      if (begun) yield rendered;
      return;
    }
    if (caughtUp) rendered.push(...begin());
    const pauses = caughtUp && renderer.waiting;
    if (pauses) rendered.push({ chunks: renderer.pause() });
    if (rendered.length > 0) yield rendered;
    if (pauses) return;
  }
}
