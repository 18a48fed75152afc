import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import {
  type AssignableVault,
  type AssignedVault,
  type Assignments,
  checkAssignable,
  type Target,
  targetNotFound,
} from '../domain/assignment.ts';

const LIST = statement(
  'assignments.list',
  `select v.vault_id as "vaultId", v.name, v.enabled from assignments a join vaults v using (vault_id)
   where a.target_kind = $1 and a.target_id = $2 order by a.position`,
);

const REVISION = statement(
  'assignments.revision',
  'select revision from assignment_lists where target_kind = $1 and target_id = $2',
);

const ADD_LIST = statement(
  'assignments.add_list',
  'insert into assignment_lists (target_kind, target_id, revision) values ($1, $2, 0) on conflict do nothing',
);

const LOCK_LIST = statement(
  'assignments.lock_list',
  `select revision, deleted_at as "deletedAt" from assignment_lists where target_kind = $1 and target_id = $2 for update`,
);

/** Keeps the vaults from being deleted before the transaction ends. */
const LOCK_VAULTS = statement(
  'assignments.lock_vaults',
  'select vault_id from vaults where vault_id = any ($1) order by vault_id for key share',
);

const ASSIGNABLE = statement(
  'assignments.assignable',
  `select v.vault_id as "vaultId", v.kind, array(
     select c.public ->> 'name' from credentials c
     where c.vault_id = v.vault_id and c.type = 'environment_variable'
   ) as variables
   from vaults v where v.vault_id = any ($1)`,
);

const CLEAR = statement(
  'assignments.clear',
  'delete from assignments where target_kind = $1 and target_id = $2',
);

const INSERT = statement(
  'assignments.insert',
  `insert into assignments (target_kind, target_id, position, vault_id)
   select $1, $2, position, vault_id from unnest($3::text[]) with ordinality as given (vault_id, position)`,
);

const COUNT_REVISION = statement(
  'assignments.count_revision',
  'update assignment_lists set revision = revision + 1 where target_kind = $1 and target_id = $2 returning revision',
);

const END_LIST = statement(
  'assignments.end_list',
  `insert into assignment_lists (target_kind, target_id, revision, deleted_at) values ($1, $2, 0, $3)
   on conflict (target_kind, target_id) do update
     set deleted_at = coalesce(assignment_lists.deleted_at, excluded.deleted_at)`,
);

const SWEEP = statement('assignments.sweep', 'delete from assignment_lists where deleted_at < $1');

export type AssignmentStore = ReturnType<typeof createAssignmentStore>;

/** The vaults of agents and assistants. */
export function createAssignmentStore(db: Database) {
  /** The list row comes first, so that the vaults are at least as new as the revision. */
  async function read(tx: DatabaseSession, target: Target): Promise<Assignments> {
    const values = valuesOf(target);
    const [list] = await tx.rows<{ revision: number }>(REVISION, values);
    return { vaults: await tx.rows<AssignedVault>(LIST, values), revision: list?.revision ?? 0 };
  }

  return {
    assignments: (target: Target, options?: ReadOptions): Promise<Assignments> =>
      read(db.within(options ?? {}), target),

    /**
     * Replaces the vaults of a target, unless `check` refuses the revision of its list. Refused with VAULT_NOT_FOUND,
     * INVALID_REQUEST, and the 404 of a target that was deleted.
     */
    async replace(
      target: Target,
      vaultIds: readonly string[],
      {
        check,
        environmentVariables,
      }: { check: (revision: number) => void; environmentVariables: ReadonlySet<string> },
      options?: WriteOptions,
    ): Promise<Assignments> {
      return db.transaction(async (tx) => {
        const values = valuesOf(target);
        await tx.change(ADD_LIST, values);
        const [list] = await tx.rows<{ revision: number; deletedAt: Date | null }>(LOCK_LIST, values);
        if (!list || list.deletedAt) throw targetNotFound(target);
        check(list.revision);
        await tx.rows(LOCK_VAULTS, [vaultIds]);
        checkAssignable(
          vaultIds,
          await tx.rows<AssignableVault>(ASSIGNABLE, [vaultIds]),
          environmentVariables,
        );
        const before = await tx.rows<AssignedVault>(LIST, values);
        const isSame = JSON.stringify(before.map(({ vaultId }) => vaultId)) === JSON.stringify(vaultIds);
        if (!isSame) {
          await tx.change(CLEAR, values);
          await tx.change(INSERT, [...values, vaultIds]);
          await tx.rows(COUNT_REVISION, values);
        }
        return read(tx, target);
      }, options);
    },

    /** Removes the vaults of a deleted target. Later replacements are refused. */
    async end(target: Target, now: Date, options?: WriteOptions): Promise<void> {
      await db.transaction(async (tx) => {
        await tx.change(END_LIST, [...valuesOf(target), now]);
        await tx.change(CLEAR, valuesOf(target));
      }, options);
    },

    /** Forgets targets that were deleted before a time. */
    async sweep(before: Date): Promise<void> {
      await db.change(SWEEP, [before]);
    },
  };
}

function valuesOf({ kind, id }: Target): unknown[] {
  return [kind, id];
}
