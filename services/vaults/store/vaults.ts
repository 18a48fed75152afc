import { type CursorScope, decodeIdCursor, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { isDuplicate } from '../../../lib/db/failure.ts';
import { runOnce } from '../../../lib/db/idempotency.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { isId } from '../../../lib/ids.ts';
import type { PageRequest } from '../domain/page.ts';
import { checkUnassigned, nameTaken, type Vault, vaultNotFound } from '../domain/vault.ts';
import type { IdempotentCreation } from './idempotent-creation.ts';

const COLUMNS = `v.vault_id as "vaultId", v.kind, coalesce(v.owner_id, '') as "ownerId", v.name, v.description, v.enabled,
  (select count(*)::integer from credentials c where c.vault_id = v.vault_id) as "credentialCount",
  (select count(*)::integer from assignments a where a.vault_id = v.vault_id) as "assignmentCount",
  v.revision, v.created_by as "createdBy", v.created_at as "createdAt", v.updated_at as "updatedAt"`;

const INSERT = statement(
  'vaults.insert',
  `insert into vaults (vault_id, kind, name, description, enabled, created_by, created_at, updated_at)
   values ($1, 'shared', $2, $3, $4, $5, $6, $6)`,
);

/** The vault of the secrets of the service itself. */
const ADD_SERVICE_VAULT = statement(
  'vaults.add_service_vault',
  `insert into vaults (vault_id, kind, name, description, enabled, created_by, created_at, updated_at)
   values ($1, 'service', '', '', true, $1, $2, $2) on conflict (vault_id) do nothing`,
);

const BY_ID = statement('vaults.by_id', `select ${COLUMNS} from vaults v where v.vault_id = $1`);

/** $1 the id before which the page begins or null, $2 the pattern and $3 the text of the search, $4 the kind, $5 rows. */
const LIST = statement(
  'vaults.list',
  `select ${COLUMNS} from vaults v
   where v.kind <> 'service' and ($1::text is null or v.vault_id < $1)
     and ($3 = '' or v.name ilike $2 or v.description ilike $2 or v.vault_id = $3) and ($4 = '' or v.kind = $4)
   order by v.vault_id desc limit $5`,
);

/** Waits for concurrent changes of the vault. Assignments of the vault do not wait. */
const LOCK_FOR_CHANGE = statement(
  'vaults.lock',
  'select vault_id from vaults where vault_id = $1 for no key update',
);

/** Waits for concurrent assignments and new credentials of the vault, and keeps later ones waiting. */
const LOCK_FOR_DELETE = statement(
  'vaults.lock_to_delete',
  'select vault_id from vaults where vault_id = $1 for update',
);

const UPDATE = statement(
  'vaults.update',
  `update vaults set name = $2, description = $3, enabled = $4, revision = $5, updated_at = $6 where vault_id = $1`,
);

const DELETE = statement('vaults.delete', 'delete from vaults where vault_id = $1');

const UNIQUE_NAME = 'shared_vaults_by_name';

export type VaultStore = ReturnType<typeof createVaultStore>;

/** The handlers decide who can read and change vaults. */
export function createVaultStore(db: Database) {
  async function lockedBy(
    lock: typeof LOCK_FOR_CHANGE,
    tx: DatabaseSession,
    vaultId: string,
  ): Promise<Vault> {
    const locked = isId('vlt', vaultId) ? await tx.rows(lock, [vaultId]) : [];
    const [row] = locked.length > 0 ? await tx.rows<Vault>(BY_ID, [vaultId]) : [];
    if (!row) throw vaultNotFound();
    return row;
  }

  return {
    /** Creates a shared vault, or returns the answer of an earlier request with the same key. Refused with NAME_TAKEN. */
    async create(vault: Vault, { key, ...creation }: IdempotentCreation, options?: WriteOptions) {
      const { vaultId, name, description, enabled, createdBy, createdAt } = vault;
      const identity = { caller: createdBy, key, method: 'CreateVault', now: createdAt, ...creation };
      const insert = async (tx: DatabaseSession) => {
        await tx.change(INSERT, [vaultId, name, description, enabled, createdBy, createdAt]);
        return creation.answer;
      };
      return runOnce(db, identity, insert, options).catch(asNameTaken(name));
    },

    /** Makes the vault of the service, unless it exists. */
    async addServiceVault(vaultId: string, now: Date): Promise<void> {
      await db.change(ADD_SERVICE_VAULT, [vaultId, now]);
    },

    async vault(vaultId: string, options?: ReadOptions): Promise<Vault | undefined> {
      if (!isId('vlt', vaultId)) return undefined;
      const [row] = await db.rows<Vault>(BY_ID, [vaultId], options);
      return row;
    },

    /** Newest first. Cursors are bound to the caller and the filter. */
    async list(
      caller: string,
      { q, kind }: { q: string; kind: string },
      { limit, cursor }: PageRequest,
      options?: ReadOptions,
    ) {
      const scope: CursorScope = ['ListVaults', caller, q, kind];
      const before = decodeIdCursor('vlt', scope, cursor);
      const values = [before ?? null, likePattern(q), q, kind, limit + 1];
      const rows = await db.rows<Vault>(LIST, values, options);
      return pageOf(rows, limit, scope, (row) => row.vaultId);
    },

    /** Changes a locked vault. `change` returns the same object to leave it unchanged. Refused with NAME_TAKEN. */
    async change(
      vaultId: string,
      change: (vault: Vault) => Vault,
      options?: WriteOptions,
    ): Promise<{ before: Vault; after: Vault }> {
      let name = '';
      const work = async (tx: DatabaseSession) => {
        const before = await lockedBy(LOCK_FOR_CHANGE, tx, vaultId);
        const after = change(before);
        name = after.name;
        if (after !== before) {
          const { description, enabled, revision, updatedAt } = after;
          await tx.change(UPDATE, [vaultId, name, description, enabled, revision, updatedAt]);
        }
        return { before, after };
      };
      return db.transaction(work, options).catch((error) => asNameTaken(name)(error));
    },

    /**
     * Deletes a vault with its credentials and keys, unless `check` refuses it. Refused with RESOURCE_IN_USE while it is
     * assigned. Concurrent assignments of the vault wait, and are then refused.
     */
    async delete(vaultId: string, check: (vault: Vault) => void, options?: WriteOptions): Promise<void> {
      await db.transaction(async (tx) => {
        const vault = await lockedBy(LOCK_FOR_DELETE, tx, vaultId);
        check(vault);
        checkUnassigned(vaultId, vault.assignmentCount);
        await tx.change(DELETE, [vaultId]);
      }, options);
    },
  };
}

function asNameTaken(name: string) {
  return (error: unknown): never => {
    throw isDuplicate(error, UNIQUE_NAME) ? nameTaken(name) : error;
  };
}
