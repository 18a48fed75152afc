import type { Turn } from '../gen/types.gen.ts';

/**
 * Returns the index of the turn that a linked event belongs to, or else of the last turn that was queued before it. Without a
 * linked event, returns the index of the newest turn. -1 when there is none.
 */
export function linkedTurnIndex(
  turns: readonly Turn[],
  event: number | undefined,
  turnId: string | null | undefined,
): number {
  if (event === undefined) return turns.length - 1;
  const index = turns.findIndex(({ turn_id: id }) => id === turnId);
  return index === -1 ? turns.findLastIndex(({ queued_seq: seq }) => seq <= event) : index;
}
