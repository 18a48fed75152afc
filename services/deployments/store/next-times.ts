import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { Timing } from '../domain/schedules/schedule.ts';

/** What the next time of a schedule is computed from. */
export interface UntimedSchedule {
  deploymentId: string;
  createdAt: Date;
  jitterSeconds: number;
  timing: Timing;
}

export interface NextTime {
  nextAt: Date | null;
  dueAt: Date | null;
}

/** A schedule with its new next time. */
interface TimedSchedule {
  row: Pick<UntimedSchedule, 'deploymentId'>;
  next: NextTime;
}

const SET = statement(
  'next_times.set',
  `update schedules s set next_at = m.next_at, due_at = m.due_at
   from unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) as m (deployment_id, next_at, due_at)
   where s.deployment_id = m.deployment_id`,
);

export async function setNextTimes(tx: DatabaseSession, changes: readonly TimedSchedule[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.change(SET, [
    changes.map(({ row }) => row.deploymentId),
    changes.map(({ next }) => next.nextAt),
    changes.map(({ next }) => next.dueAt),
  ]);
}
