import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { Refusal } from '../../../lib/errors.ts';
import { quotaExceeded, utcDay } from '../domain/quota.ts';

/**
 * Returns no row when the quota of the day is used up. A replica whose clock is behind at midnight counts for the new
 * day.
 */
const TAKE = statement(
  'sessions.take_turn',
  `insert into quotas as q (owner_id, day, turns) values ($1, $2::date, 1)
   on conflict (owner_id) do update set
     day = greatest(q.day, $2::date), turns = case when q.day < $2::date then 1 else q.turns + 1 end
   where q.day < $2::date or q.turns < $3
   returning turns`,
);

export type TurnQuota = NonNullable<ReturnType<typeof createTurnQuota>>;

/** Limits the turns that an owner may queue on one day (UTC). Undefined when `turnsPerDay` is 0, which is no limit. */
export function createTurnQuota(turnsPerDay: number) {
  if (turnsPerDay === 0) return undefined;

  return {
    /**
     * Consumes one turn of the quota of each owner in the transaction that queues the turn. Returns a refusal for each
     * owner without a turn left. Owners are locked in the order of their ids, so that two transactions never deadlock.
     */
    async consume(
      tx: DatabaseSession,
      ownerIds: readonly string[],
      now: Date,
    ): Promise<(Refusal | undefined)[]> {
      const outcomes: (Refusal | undefined)[] = ownerIds.map(() => undefined);
      const inOrder = [...ownerIds.entries()].sort(([, one], [, other]) => (one < other ? -1 : 1));
      for (const [index, ownerId] of inOrder) {
        const taken = await tx.rows(TAKE, [ownerId, utcDay(now), turnsPerDay]);
        if (taken.length === 0) outcomes[index] = quotaExceeded(turnsPerDay, now);
      }
      return outcomes;
    },
  };
}
