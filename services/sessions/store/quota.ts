import { type Session, statement } from '../../../lib/db/database.ts';
import type { Refusal } from '../../../lib/errors.ts';
import { dayOf, noTurnsLeft } from '../domain/quota.ts';

/** No row when all of the day are used up. A replica whose clock is behind at midnight counts for the new day. */
const TAKE = statement(
  'sessions.take_turn',
  `insert into quotas as q (owner_id, day, turns) values ($1, $2::date, 1)
   on conflict (owner_id) do update set
     day = greatest(q.day, $2::date), turns = case when q.day < $2::date then 1 else q.turns + 1 end
   where q.day < $2::date or q.turns < $3
   returning turns`,
);

export type TurnQuota = NonNullable<ReturnType<typeof createTurnQuota>>;

/** How many turns may be queued for one owner on one day (UTC). Undefined where they are not counted. */
export function createTurnQuota(turnsPerDay: number) {
  if (turnsPerDay === 0) return undefined;

  return {
    /**
     * Takes one turn for each owner, in the transaction that queues it, or says why there is none left. Owners
     * are locked in the order of their ids, so that two transactions never wait for each other in a circle.
     */
    async take(tx: Session, ownerIds: readonly string[], now: Date): Promise<(Refusal | undefined)[]> {
      const outcomes: (Refusal | undefined)[] = ownerIds.map(() => undefined);
      const inOrder = [...ownerIds.entries()].sort(([, one], [, other]) => (one < other ? -1 : 1));
      for (const [index, ownerId] of inOrder) {
        const taken = await tx.rows(TAKE, [ownerId, dayOf(now), turnsPerDay]);
        if (taken.length === 0) outcomes[index] = noTurnsLeft(turnsPerDay, now);
      }
      return outcomes;
    },
  };
}
