import { decodeCursor, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type ReadOptions,
  type Session,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { createGroup } from '../../../lib/db/group.ts';
import { refuse } from '../../../lib/errors.ts';
import { hashAfter } from '../chain.ts';
import type { Act } from '../domain/act.ts';
import type { PageRequest } from '../domain/page.ts';

export type Chained = Act & { hash: string };
export type NewAct = Omit<Act, 'seq'>;

/** Empty filters, and absent times, are not applied. */
export interface ActFilter {
  actorId: string;
  action: string;
  targetId: string;
  outcome: string;
  from: Date | undefined;
  until: Date | undefined;
}

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

/** Before the newest. */
const END = Number.MAX_SAFE_INTEGER;
const PART = 1_000;

/** Each filter that is set adds its line, so that each combination is a statement with a plan of its own. */
function listStatement(filter: ActFilter, before: number, limit: number) {
  const values: unknown[] = [before, limit];
  const lines = ['seq < $1'];
  const names: string[] = [];
  const add = (name: string, value: unknown, line: (place: string) => string) => {
    values.push(value);
    names.push(name);
    lines.push(line(`$${values.length}`));
  };
  if (filter.actorId) add('actor', filter.actorId, (place) => `actor_id = ${place}`);
  if (filter.action) add('action', filter.action, (place) => `action = ${place}`);
  if (filter.targetId) add('target', filter.targetId, (place) => `target_id = ${place}`);
  if (filter.outcome) add('outcome', filter.outcome, (place) => `outcome = ${place}`);
  if (filter.from) add('from', filter.from, (place) => `created_at >= ${place}`);
  if (filter.until) add('until', filter.until, (place) => `created_at < ${place}`);
  const query = statement(
    `auth.list_acts_${names.join('_')}`,
    `select ${COLUMNS} from acts where ${lines.join(' and ')} order by seq desc limit $2`,
  );
  return { query, values };
}

export type ActStore = ReturnType<typeof createActStore>;

/** The audit log. Those who append at the same time share a commit, and nobody sees a gap. */
export function createActStore(db: Database) {
  async function append(tx: Session, acts: readonly NewAct[]): Promise<void> {
    const [head] = await tx.rows<Head>(LOCK_HEAD);
    if (!head) throw new Error('the audit log has no head');
    let { seq, hash } = head;
    const rows = acts.map((act): Chained => {
      const numbered = { ...act, seq: ++seq };
      hash = hashAfter(hash, numbered);
      return { ...numbered, hash };
    });
    const column = <Name extends keyof Chained>(name: Name) => rows.map((row) => row[name]);
    await tx.change(INSERT, [
      ...[column('seq'), column('createdAt'), column('actorId'), column('credential'), column('action')],
      ...[column('targetId'), column('outcome'), column('address'), column('requestId'), column('dataJson')],
      column('hash'),
    ]);
    await tx.change(MOVE_HEAD, [seq, hash]);
  }

  const writer = createGroup<readonly NewAct[], void>({
    name: 'auth.acts',
    watch: db.watch,
    async run(groups, options) {
      await db.transaction((tx) => append(tx, groups.flat()), options);
      return groups.map(() => undefined);
    },
    sizeOf: (acts) => acts.length,
    maxItems: 200,
    maxBytes: 1_000,
  });

  return {
    /** Resolves when they are there. */
    add: (acts: readonly NewAct[], options?: WriteOptions): Promise<void> => writer.submit(acts, options),

    async list(callerId: string, filter: ActFilter, { limit, cursor }: PageRequest, options?: ReadOptions) {
      const { actorId, action, targetId, outcome, from, until } = filter;
      const times = [from, until].map((time) => time?.toISOString());
      const scope = ['ListActs', callerId, actorId, action, targetId, outcome, ...times];
      const key = decodeCursor(scope, cursor);
      if (key !== undefined && !/^[1-9]\d{0,15}$/.test(key))
        throw refuse('INVALID_CURSOR', 'the cursor is not one of this list');
      const { query, values } = listStatement(filter, key === undefined ? END : Number(key), limit + 1);
      const rows = await db.rows<Chained>(query, values, options);
      return pageOf(rows, limit, scope, (act) => String(act.seq));
    },

    /** Computes the chain of at most `limit` lines anew. Those before `afterSeq` are taken for right. */
    async verify(afterSeq: number, limit: number, options?: ReadOptions) {
      const [head] = await db.rows<Head>(HEAD, [], options);
      const [before] =
        afterSeq > 0 ? await db.rows<{ hash: string }>(ONE, [afterSeq], options) : [{ hash: '' }];
      if (!head || !before) return broken(afterSeq, 0, '');
      const last = Math.min(head.seq, afterSeq + limit);
      let { hash } = before;
      let seq = afterSeq;
      while (seq < last) {
        const rows = await db.rows<Chained>(AFTER, [seq, last, PART], options);
        if (rows.length === 0) return broken(seq + 1, seq, hash);
        for (const row of rows) {
          const isRight = row.seq === seq + 1 && row.hash === hashAfter(hash, row);
          if (!isRight) return broken(seq + 1, seq, hash);
          ({ seq, hash } = row);
        }
      }
      const isWhole = seq < head.seq || hash === head.hash;
      if (!isWhole) return broken(seq, seq, hash);
      return { verifiedSeq: seq, verifiedHash: hash, brokenSeq: undefined, complete: seq >= head.seq };
    },
  };
}

function broken(brokenSeq: number, verifiedSeq: number, verifiedHash: string) {
  return { verifiedSeq, verifiedHash, brokenSeq, complete: true };
}
