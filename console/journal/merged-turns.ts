import type { Turn } from '../gen/types.gen.ts';

/** Returns the turns with newer versions of some of them, and with new ones. Oldest first. */
export function mergedTurns(turns: readonly Turn[], newer: readonly Turn[]): Turn[] {
  const byId = new Map([...turns, ...newer].map((turn) => [turn.turn_id, turn]));
  return [...byId.values()].sort((one, other) => one.queued_seq - other.queued_seq);
}
