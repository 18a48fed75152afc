import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';

const ADD = statement(
  'lendings.add',
  `insert into lendings (turn_id, credential_id, host, first_at)
   values ($1, $2, $3, $4) on conflict do nothing`,
);

const IS_RECORDED = statement(
  'lendings.is_recorded',
  'select from lendings where turn_id = $1 and credential_id = $2 and host = $3',
);

const TRIM = statement('lendings.trim', 'delete from lendings where first_at < $1');

const MARK_USED = statement(
  'credentials.mark_used',
  `update credentials set last_used_at = $2
   where credential_id = any ($1::text[]) and (last_used_at is null or last_used_at <= $3)`,
);

const MARK_REFUSED = statement(
  'credentials.mark_refused',
  `update credentials set status = 'refused', status_reason = $3, revision = revision + 1, updated_at = $4
   where credential_id = $1 and generation = $2 and status = 'active'`,
);

/** A turn that sends a credential to a host. */
export interface Lending {
  turnId: string;
  credentialId: string;
  host: string;
}

/** The time of the last use is at most this much too early. */
const USE_PRECISION_MS = 60_000;

export type LendingStore = ReturnType<typeof createLendingStore>;

/** The lendings that the audit log has, and the marks that turns leave on credentials. */
export function createLendingStore(db: Database) {
  return {
    async add({ turnId, credentialId, host }: Lending, now: Date, options?: WriteOptions): Promise<void> {
      await db.change(ADD, [turnId, credentialId, host, now], options);
    },

    async isRecorded({ turnId, credentialId, host }: Lending, options?: ReadOptions): Promise<boolean> {
      return (await db.rows(IS_RECORDED, [turnId, credentialId, host], options)).length > 0;
    },

    /** Removes the lendings before a time. */
    async trim(before: Date): Promise<void> {
      await db.change(TRIM, [before]);
    },

    /** Notes the time of use of those credentials whose last use is at least a minute ago. */
    async markUsed(
      credentials: readonly { credentialId: string; lastUsedAt: Date | undefined }[],
      now: Date,
      options?: WriteOptions,
    ): Promise<void> {
      const before = now.getTime() - USE_PRECISION_MS;
      const due = credentials.filter(({ lastUsedAt }) => (lastUsedAt?.getTime() ?? 0) <= before);
      if (due.length === 0) return;
      await db.change(
        MARK_USED,
        [due.map(({ credentialId }) => credentialId), now, new Date(before)],
        options,
      );
    },

    /** Marks a credential as refused. Returns false if its secret has changed or it was marked before. */
    async markRefused(
      { credentialId, generation }: { credentialId: string; generation: number },
      reason: string,
      now: Date,
      options?: WriteOptions,
    ): Promise<boolean> {
      return (await db.change(MARK_REFUSED, [credentialId, generation, reason, now], options)) > 0;
    },
  };
}
