import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';

export interface SeenWorker {
  workerId: string;
  seenAt: Date;
}

/** Each start of a worker has another id. */
const KEPT = `interval '1 day'`;
const MAX_LISTED = 100;

const NOTE = statement(
  'channel_workers.note',
  `with swept as (delete from channel_workers where seen_at < $2::timestamptz - ${KEPT} and worker_id <> $1)
   insert into channel_workers (worker_id, seen_at) values ($1, $2)
   on conflict (worker_id) do update set seen_at = excluded.seen_at`,
);

const SEEN_AFTER = statement(
  'channel_workers.seen_after',
  `select worker_id as "workerId", seen_at as "seenAt" from channel_workers
   where seen_at > $1 order by seen_at desc limit ${MAX_LISTED}`,
);

const ARE_NEEDED = statement(
  'channel_workers.are_needed',
  'select exists (select from channels where is_enabled) as "areNeeded"',
);

export type ChannelWorkerStore = ReturnType<typeof createChannelWorkerStore>;

export function createChannelWorkerStore(db: Database) {
  return {
    async note({ workerId, seenAt }: SeenWorker, options: WriteOptions): Promise<void> {
      await db.change(NOTE, [workerId, seenAt], options);
    },

    /** The last first, at most 100. */
    seenAfter: (time: Date, options?: ReadOptions): Promise<SeenWorker[]> =>
      db.rows<SeenWorker>(SEEN_AFTER, [time], options),

    /** Whether a channel is enabled. */
    async areNeeded(options?: ReadOptions): Promise<boolean> {
      const [row] = await db.rows<{ areNeeded: boolean }>(ARE_NEEDED, [], options);
      return row?.areNeeded ?? false;
    },
  };
}
