import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import type { WrappedKey } from '../keys/vault-keys.ts';

/** The columns of a data key `k`. */
export const KEY_COLUMNS = `k.vault_id as "vaultId", k.generation, k.wrapped, k.kek_id as "kekId",
  k.kek_annotations as "kekAnnotations"`;

const NEWEST = statement(
  'vaults.newest_data_key',
  `select ${KEY_COLUMNS} from data_keys k where k.vault_id = $1 order by k.generation desc limit 1`,
);

const BY_GENERATION = statement(
  'vaults.data_key',
  `select ${KEY_COLUMNS} from data_keys k where k.vault_id = $1 and k.generation = $2`,
);

/** Inserts nothing if the vault has the generation or was deleted. */
const INSERT = statement(
  'vaults.insert_data_key',
  `insert into data_keys (vault_id, generation, wrapped, kek_id, kek_annotations, created_at)
   select vault_id, $2, $3, $4, $5, $6 from vaults where vault_id = $1 for key share
   on conflict do nothing`,
);

/** Keeps a data key from being deleted before the transaction ends. */
const LOCK_FOR_USE = statement(
  'vaults.lock_data_key',
  'select generation from data_keys where vault_id = $1 and generation = $2 for key share',
);

const KEK_IDS = statement('vaults.kek_ids', 'select distinct kek_id as "kekId" from data_keys');

export type DataKeyStore = ReturnType<typeof createDataKeyStore>;

export function createDataKeyStore(db: Database) {
  return {
    /** Returns the data key that seals new secrets of a vault. */
    newest: (vaultId: string, options?: ReadOptions) => newestDataKey(db.within(options ?? {}), vaultId),

    async find(vaultId: string, generation: number, options?: ReadOptions): Promise<WrappedKey | undefined> {
      const [row] = await db.rows<WrappedKey>(BY_GENERATION, [vaultId, generation], options);
      return row;
    },

    /** Adds a data key, unless the vault has that generation already. */
    async add(key: WrappedKey, now: Date, options?: WriteOptions): Promise<void> {
      await insertDataKey(db.within(options ?? {}), key, now);
    },

    /** Returns the different key-encryption keys of all data keys. */
    async kekIds(): Promise<string[]> {
      return (await db.rows<{ kekId: string }>(KEK_IDS)).map(({ kekId }) => kekId);
    },
  };
}

export async function newestDataKey(
  tx: Pick<DatabaseSession, 'rows'>,
  vaultId: string,
): Promise<WrappedKey | undefined> {
  const [row] = await tx.rows<WrappedKey>(NEWEST, [vaultId]);
  return row;
}

/** Adds a data key. Returns false if the vault has that generation already, or was deleted. */
export async function insertDataKey(tx: DatabaseSession, key: WrappedKey, now: Date): Promise<boolean> {
  const { vaultId, generation, wrapped, kekId, kekAnnotations } = key;
  const values = [vaultId, generation, wrapped, kekId, JSON.stringify(kekAnnotations), now];
  return (await tx.change(INSERT, values)) > 0;
}

/** Returns whether the data key exists, which then lasts until the transaction ends. */
export async function lockDataKey(
  tx: DatabaseSession,
  vaultId: string,
  generation: number,
): Promise<boolean> {
  return (await tx.rows(LOCK_FOR_USE, [vaultId, generation])).length > 0;
}
