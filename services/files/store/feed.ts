import { type Database, type ReadOptions, statement } from '../../../lib/db/database.ts';

/** One change of a path, as it is kept. */
export interface ChangeRow {
  seq: number;
  workspaceVersion: number;
  kind: 'created' | 'modified' | 'deleted';
  path: string;
  entryKind: string;
  size: number;
  sha256: string;
  executable: boolean;
  target: string;
  modifiedAt: Date;
  sessionId: string;
  userId: string;
  createdAt: Date;
}

export interface Delivery {
  workspaceId: string;
  sessionId: string;
  /** The changes after this one are still to be told. */
  toldSeq: number;
  attempts: number;
}

const CHANGE = `seq, workspace_version as "workspaceVersion", kind, path, entry_kind as "entryKind", size, sha256,
  executable, target, modified_at as "modifiedAt", session_id as "sessionId", user_id as "userId",
  created_at as "createdAt"`;

const AFTER = statement(
  'files.changes_after',
  `select ${CHANGE} from changes where workspace_id = $1 and seq > $2 order by seq limit $3`,
);

/** $2 and $3: after the first of these versions, up to the second. */
const PATHS_BETWEEN = statement(
  'files.changed_paths',
  `select path, bool_or(kind = 'deleted') as "wasDeleted" from changes
   where workspace_id = $1 and workspace_version > $2 and workspace_version <= $3 group by path`,
);

const DUE = statement(
  'files.due_deliveries',
  `select workspace_id as "workspaceId", session_id as "sessionId", told_seq as "toldSeq", attempts
   from deliveries where due_at <= $1 order by due_at limit $2`,
);

const ONE = statement(
  'files.delivery',
  `select workspace_id as "workspaceId", session_id as "sessionId", told_seq as "toldSeq", attempts
   from deliveries where workspace_id = $1 and session_id = $2`,
);

const LOCK = statement(
  'files.lock_delivery',
  'select told_seq as "toldSeq" from deliveries where workspace_id = $1 and session_id = $2 for update',
);

const MORE = statement(
  'files.more_changes',
  'select exists (select 1 from changes where workspace_id = $1 and seq > $2) as more',
);

const TOLD = statement(
  'files.told',
  `update deliveries set told_seq = greatest(told_seq, $3), due_at = $4, attempts = 0
   where workspace_id = $1 and session_id = $2`,
);

const DELIVERED = statement(
  'files.delivered',
  'delete from deliveries where workspace_id = $1 and session_id = $2',
);

const LATER = statement(
  'files.deliver_later',
  `update deliveries set due_at = $3, attempts = attempts + 1 where workspace_id = $1 and session_id = $2`,
);

export type Feed = ReturnType<typeof createFeed>;

export function createFeed(db: Database) {
  return {
    /** In the order of their numbers. */
    after: (workspaceId: string, seq: number, limit: number, options?: ReadOptions) =>
      db.rows<ChangeRow>(AFTER, [workspaceId, seq, limit], options),

    /** What has changed between two versions, in no order. */
    pathsBetween: (workspaceId: string, from: number, to: number, options?: ReadOptions) =>
      db.rows<{ path: string; wasDeleted: boolean }>(PATHS_BETWEEN, [workspaceId, from, to], options),

    due: (now: Date, limit: number) => db.rows<Delivery>(DUE, [now, limit]),

    async delivery(workspaceId: string, sessionId: string): Promise<Delivery | undefined> {
      return (await db.rows<Delivery>(ONE, [workspaceId, sessionId]))[0];
    },

    /** The session has been told of everything up to `seq`. Returns whether there is more. */
    told: ({ workspaceId, sessionId }: Delivery, seq: number, now: Date): Promise<boolean> =>
      db.transaction(async (tx) => {
        const [row] = await tx.rows<{ toldSeq: number }>(LOCK, [workspaceId, sessionId]);
        if (!row) return false;
        // Asked once the row is locked: whoever makes a change takes that lock, too.
        const [answer] = await tx.rows<{ more: boolean }>(MORE, [workspaceId, Math.max(seq, row.toldSeq)]);
        if (answer?.more) await tx.change(TOLD, [workspaceId, sessionId, seq, now]);
        else await tx.change(DELIVERED, [workspaceId, sessionId]);
        return answer?.more ?? false;
      }),

    /** The session is gone. */
    drop: ({ workspaceId, sessionId }: Delivery) => db.change(DELIVERED, [workspaceId, sessionId]),

    later: ({ workspaceId, sessionId }: Delivery, due: Date) =>
      db.change(LATER, [workspaceId, sessionId, due]),
  };
}
