import { type Database, type ReadOptions, statement } from '../../../lib/db/database.ts';

/** The first times at which there can be work of each kind. Null: there is none. */
export interface NextWork {
  connectionsAt: Date | null;
  conversationsAt: Date | null;
  deliveriesAt: Date | null;
  hasProbes: boolean;
}

const NEXT = statement(
  'channel_work.next',
  `select (select min(ready_at) from connections where ready_at is not null) as "connectionsAt",
     (select min(ready_at) from conversations where is_engaged) as "conversationsAt",
     (select min(ready_at) from deliveries where ready_at is not null) as "deliveriesAt",
     exists (select from probes where checks is null) as "hasProbes"`,
);

export type ChannelWorkStore = ReturnType<typeof createChannelWorkStore>;

export function createChannelWorkStore(db: Database) {
  return {
    /** One statement: a worker that waits causes no other one. */
    async next(options?: ReadOptions): Promise<NextWork> {
      const [row] = await db.rows<NextWork>(NEXT, [], options);
      return row ?? { connectionsAt: null, conversationsAt: null, deliveriesAt: null, hasProbes: false };
    },
  };
}
