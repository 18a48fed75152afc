import { createBatcher } from '../../../lib/db/batcher.ts';
import { decodeCursor, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';
import { type AuditEntry, chainHash } from '../domain/audit-entry.ts';
import type { PageRequest } from '../domain/page.ts';

type HashedEntry = AuditEntry & { hash: string };
export type NewAuditEntry = Omit<AuditEntry, 'seq'>;

/** Empty filters, and absent times, are not applied. */
interface AuditFilter {
  actorId: string;
  action: string;
  targetId: string;
  outcome: string;
  from: Date | undefined;
  until: Date | undefined;
}

/** The last entry of the chain. */
interface Head {
  seq: number;
  hash: string;
}

const COLUMNS = `seq, created_at as "createdAt", actor_id as "actorId", credential, action, target_id as "targetId",
  outcome, address, request_id as "requestId", data as "dataJson", encode(hash, 'hex') as hash`;

const HEAD = statement('auth.act_head', `select seq, encode(hash, 'hex') as hash from act_head`);

const LOCK_HEAD = statement(
  'auth.lock_act_head',
  `select seq, encode(hash, 'hex') as hash from act_head for update`,
);

const MOVE_HEAD = statement('auth.move_act_head', `update act_head set seq = $1, hash = decode($2, 'hex')`);

const INSERT = statement(
  'auth.insert_acts',
  `insert into acts (seq, created_at, actor_id, credential, action, target_id, outcome, address, request_id, data, hash)
   select seq, created_at, actor_id, credential, action, target_id, outcome, address, request_id, data, decode(hash, 'hex')
   from unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
               $9::text[], $10::text[], $11::text[])
     as added (seq, created_at, actor_id, credential, action, target_id, outcome, address, request_id, data, hash)`,
);

const AFTER = statement(
  'auth.acts_after',
  `select ${COLUMNS} from acts where seq > $1 and seq <= $2 order by seq limit $3`,
);

const ONE = statement('auth.act', `select encode(hash, 'hex') as hash from acts where seq = $1`);

/** The sequence number after all entries. */
const END = Number.MAX_SAFE_INTEGER;
/** Entries that are read at once for verification. */
const BATCH = 1_000;

/** Every filter adds a condition, so that each combination is a separate statement with its own query plan. */
function listStatement(filter: AuditFilter, before: number, limit: number) {
  const values: unknown[] = [before, limit];
  const conditions = ['seq < $1'];
  const names: string[] = [];
  const add = (name: string, value: unknown, condition: (parameter: string) => string) => {
    values.push(value);
    names.push(name);
    conditions.push(condition(`$${values.length}`));
  };
  if (filter.actorId) add('actor', filter.actorId, (parameter) => `actor_id = ${parameter}`);
  if (filter.action) add('action', filter.action, (parameter) => `action = ${parameter}`);
  if (filter.targetId) add('target', filter.targetId, (parameter) => `target_id = ${parameter}`);
  if (filter.outcome) add('outcome', filter.outcome, (parameter) => `outcome = ${parameter}`);
  if (filter.from) add('from', filter.from, (parameter) => `created_at >= ${parameter}`);
  if (filter.until) add('until', filter.until, (parameter) => `created_at < ${parameter}`);
  const query = statement(
    `auth.list_acts_${names.join('_')}`,
    `select ${COLUMNS} from acts where ${conditions.join(' and ')} order by seq desc limit $2`,
  );
  return { query, values };
}

export type AuditStore = ReturnType<typeof createAuditStore>;

/** The audit log: a hash chain without gaps. Concurrent appends share a commit. */
export function createAuditStore(db: Database) {
  async function append(tx: DatabaseSession, acts: readonly NewAuditEntry[]): Promise<void> {
    const [head] = await tx.rows<Head>(LOCK_HEAD);
    if (!head) throw new Error('the audit log has no head');
    let { seq, hash } = head;
    const rows = acts.map((act): HashedEntry => {
      const numbered = { ...act, seq: ++seq };
      hash = chainHash(hash, numbered);
      return { ...numbered, hash };
    });
    const column = <Name extends keyof HashedEntry>(name: Name) => rows.map((row) => row[name]);
    await tx.change(INSERT, [
      ...[column('seq'), column('createdAt'), column('actorId'), column('credential'), column('action')],
      ...[column('targetId'), column('outcome'), column('address'), column('requestId'), column('dataJson')],
      column('hash'),
    ]);
    await tx.change(MOVE_HEAD, [seq, hash]);
  }

  const writer = createBatcher<readonly NewAuditEntry[], void>({
    name: 'auth.acts',
    observer: db.observer,
    async run(groups, options) {
      await db.transaction((tx) => append(tx, groups.flat()), options);
      return groups.map(() => undefined);
    },
    sizeOf: (acts) => acts.length,
    maxItems: 200,
    maxBytes: 1_000,
  });

  return {
    /** Resolves after the commit. */
    add: (acts: readonly NewAuditEntry[], options?: WriteOptions): Promise<void> =>
      writer.submit(acts, options),

    async list(callerId: string, filter: AuditFilter, { limit, cursor }: PageRequest, options?: ReadOptions) {
      const { actorId, action, targetId, outcome, from, until } = filter;
      const times = [from, until].map((time) => time?.toISOString());
      const scope = ['ListActs', callerId, actorId, action, targetId, outcome, ...times];
      const key = decodeCursor(scope, cursor);
      if (key !== undefined && !/^[1-9]\d{0,15}$/.test(key))
        throw refuse('INVALID_CURSOR', 'The cursor is malformed or belongs to another list.');
      const { query, values } = listStatement(filter, key === undefined ? END : Number(key), limit + 1);
      const rows = await db.rows<HashedEntry>(query, values, options);
      return pageOf(rows, limit, scope, (act) => String(act.seq));
    },

    /** Verifies the hashes of at most `limit` entries. The entries up to `afterSeq` are trusted. */
    async verify(afterSeq: number, limit: number, options?: ReadOptions) {
      const [head] = await db.rows<Head>(HEAD, [], options);
      const [before] =
        afterSeq > 0 ? await db.rows<{ hash: string }>(ONE, [afterSeq], options) : [{ hash: '' }];
      if (!head || !before) return broken(afterSeq, 0, '');
      const last = Math.min(head.seq, afterSeq + limit);
      let { hash } = before;
      let seq = afterSeq;
      while (seq < last) {
        const rows = await db.rows<HashedEntry>(AFTER, [seq, last, BATCH], options);
        if (rows.length === 0) return broken(seq + 1, seq, hash);
        for (const row of rows) {
          const isValid = row.seq === seq + 1 && row.hash === chainHash(hash, row);
          if (!isValid) return broken(seq + 1, seq, hash);
          ({ seq, hash } = row);
        }
      }
      const isComplete = seq < head.seq || hash === head.hash;
      if (!isComplete) return broken(seq, seq, hash);
      return { verifiedSeq: seq, verifiedHash: hash, brokenSeq: undefined, complete: seq >= head.seq };
    },
  };
}

function broken(brokenSeq: number, verifiedSeq: number, verifiedHash: string) {
  return { verifiedSeq, verifiedHash, brokenSeq, complete: true };
}
