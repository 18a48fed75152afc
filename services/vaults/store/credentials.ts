import { type CursorScope, decodeIdCursor, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { type IdempotentAnswer, runOnce } from '../../../lib/db/idempotency.ts';
import { isId } from '../../../lib/ids.ts';
import {
  applyCredentialPatch,
  type Credential,
  type CredentialPatch,
  checkCredentialCount,
  credentialNotFound,
  requireShared,
  type SealedSecret,
} from '../domain/credential.ts';
import type { PageRequest } from '../domain/page.ts';
import { type Vault, vaultNotFound } from '../domain/vault.ts';
import type { WrappedKey } from '../keys/vault-keys.ts';
import { CREDENTIAL_COLUMNS, type CredentialRow, credentialFromRow } from './credential-rows.ts';
import { KEY_COLUMNS, lockDataKey } from './data-keys.ts';
import type { IdempotentCreation } from './idempotent-creation.ts';

/** Makes creations in one vault wait for each other, because they count its credentials. */
const LOCK_VAULT = statement(
  'credentials.lock_vault',
  'select vault_id as "vaultId", kind from vaults where vault_id = $1 for no key update',
);

const COUNT = statement(
  'credentials.count',
  'select count(*)::integer as credentials from credentials where vault_id = $1',
);

const INSERT = statement(
  'credentials.insert',
  `insert into credentials (credential_id, vault_id, type, label, enabled, mcp_server_url, hosts, public, sealed,
     key_generation, generation, fingerprint, last_four, status, created_by, created_at, updated_at, expires_at)
   values ($1, $2, $3, $4, $5, nullif($6, ''), $7, $8, $9, $10, $11, $12, $13, 'active', $14, $15, $15, $16)`,
);

const BY_ID = statement(
  'credentials.by_id',
  `select ${CREDENTIAL_COLUMNS} from credentials c where c.vault_id = $1 and c.credential_id = $2`,
);

/** The sealed secret with the data key that opens it. */
const SEALED = statement(
  'credentials.sealed',
  `select ${KEY_COLUMNS}, c.generation as "secretGeneration", c.sealed
   from credentials c join data_keys k on k.vault_id = c.vault_id and k.generation = c.key_generation
   where c.vault_id = $1 and c.credential_id = $2`,
);

/** An enabled credential of a shared vault for exactly this URL. */
const SHARED_FOR_SERVER = statement(
  'credentials.shared_for_server',
  `select ${CREDENTIAL_COLUMNS} from credentials c join vaults v using (vault_id)
   where c.credential_id = $1 and c.mcp_server_url = $2 and c.enabled and v.enabled and v.kind = 'shared'`,
);

const LIST = statement(
  'credentials.list',
  `select ${CREDENTIAL_COLUMNS} from credentials c
   where c.vault_id = $1 and ($2::text is null or c.credential_id < $2)
   order by c.credential_id desc limit $3`,
);

const LOCK = statement(
  'credentials.lock',
  'select credential_id from credentials where vault_id = $1 and credential_id = $2 for update',
);

const UPDATE = statement(
  'credentials.update',
  `update credentials set label = $2, enabled = $3, status = $4, status_reason = $5, revision = $6, updated_at = $7
   where credential_id = $1`,
);

const UPDATE_SECRET = statement(
  'credentials.update_secret',
  `update credentials set sealed = $2, key_generation = $3, generation = $4, fingerprint = $5, last_four = $6,
     expires_at = null, last_refreshed_at = null, refreshing_until = null, refresh_failures = 0, retry_at = null
   where credential_id = $1`,
);

const DELETE = statement('credentials.delete', 'delete from credentials where credential_id = $1');

/** Identifies a credential of a vault. */
export interface CredentialAddress {
  vaultId: string;
  credentialId: string;
}

/** A sealed secret as it is stored, with the data key that opens it. */
interface StoredSecret {
  key: WrappedKey;
  generation: number;
  sealed: Buffer;
}

/** The secret was sealed with a data key or for a generation that is no longer current. It has to be sealed again. */
export const STALE = Symbol('stale');

export type CredentialStore = ReturnType<typeof createCredentialStore>;

/** The handlers decide who can read and change credentials. */
export function createCredentialStore(db: Database) {
  async function lock(tx: DatabaseSession, address: CredentialAddress): Promise<Credential> {
    const locked = isAddress(address) ? await tx.rows(LOCK, valuesOf(address)) : [];
    const [row] = locked.length > 0 ? await tx.rows<CredentialRow>(BY_ID, valuesOf(address)) : [];
    if (!row) throw credentialNotFound();
    return credentialFromRow(row);
  }

  return {
    /**
     * Creates a credential of a shared vault, or returns the answer of an earlier request with the same key. Refused with
     * INVALID_REQUEST when the vault has too many.
     */
    async create(
      credential: Credential,
      secret: SealedSecret,
      { key, ...creation }: IdempotentCreation,
      options?: WriteOptions,
    ): Promise<IdempotentAnswer | typeof STALE> {
      const { vaultId, createdBy, createdAt } = credential;
      const identity = { caller: createdBy, key, method: 'CreateCredential', now: createdAt, ...creation };
      const insert = async (tx: DatabaseSession) => {
        const [vault] = await tx.rows<Pick<Vault, 'vaultId' | 'kind'>>(LOCK_VAULT, [vaultId]);
        if (!vault) throw vaultNotFound();
        requireShared(vault);
        const [counted] = await tx.rows<{ credentials: number }>(COUNT, [vaultId]);
        checkCredentialCount(counted?.credentials ?? 0);
        if (!(await lockDataKey(tx, vaultId, secret.keyGeneration))) throw new StaleSecret();
        await tx.change(INSERT, insertValues(credential, secret));
        return creation.answer;
      };
      return orStale(runOnce(db, identity, insert, options));
    },

    async credential(address: CredentialAddress, options?: ReadOptions): Promise<Credential | undefined> {
      if (!isAddress(address)) return undefined;
      const [row] = await db.rows<CredentialRow>(BY_ID, valuesOf(address), options);
      return row && credentialFromRow(row);
    },

    async sharedForServer(credentialId: string, url: string): Promise<Credential | undefined> {
      if (!isId('crd', credentialId)) return undefined;
      const [row] = await db.rows<CredentialRow>(SHARED_FOR_SERVER, [credentialId, url]);
      return row && credentialFromRow(row);
    },

    async secret(address: CredentialAddress, options?: ReadOptions): Promise<StoredSecret | undefined> {
      if (!isAddress(address)) return undefined;
      const [row] = await db.rows<WrappedKey & { secretGeneration: number; sealed: Buffer }>(
        SEALED,
        valuesOf(address),
        options,
      );
      if (!row) return undefined;
      const { secretGeneration: generation, sealed, ...key } = row;
      return { key, generation, sealed };
    },

    /** Newest first. Cursors are bound to the caller and the vault. */
    async list(caller: string, vaultId: string, { limit, cursor }: PageRequest, options?: ReadOptions) {
      const scope: CursorScope = ['ListCredentials', caller, vaultId];
      const before = decodeIdCursor('crd', scope, cursor);
      const rows = await db.rows<CredentialRow>(LIST, [vaultId, before ?? null, limit + 1], options);
      return pageOf(rows.map(credentialFromRow), limit, scope, (row) => row.credentialId);
    },

    /** Changes a locked credential, unless `check` refuses it. */
    async change(
      address: CredentialAddress,
      check: (credential: Credential) => void,
      patch: CredentialPatch,
      now: Date,
      options?: WriteOptions,
    ): Promise<Credential | typeof STALE> {
      const { secret } = patch;
      const work = async (tx: DatabaseSession) => {
        const before = await lock(tx, address);
        check(before);
        const after = applyCredentialPatch(before, patch, now);
        if (after === before) return after;
        if (secret) {
          const isCurrent = secret.generation === before.generation + 1;
          if (!isCurrent || !(await lockDataKey(tx, address.vaultId, secret.keyGeneration)))
            throw new StaleSecret();
          await tx.change(UPDATE_SECRET, [address.credentialId, ...secretValues(secret)]);
        }
        const { label, enabled, status, statusReason, revision, updatedAt } = after;
        const values = [address.credentialId, label, enabled, status, statusReason, revision, updatedAt];
        await tx.change(UPDATE, values);
        return after;
      };
      return orStale(db.transaction(work, options));
    },

    /** Deletes a locked credential, unless `check` refuses it. */
    async delete(
      address: CredentialAddress,
      check: (credential: Credential) => void,
      options?: WriteOptions,
    ): Promise<void> {
      await db.transaction(async (tx) => {
        check(await lock(tx, address));
        await tx.change(DELETE, [address.credentialId]);
      }, options);
    },
  };
}

/** Ends a transaction whose secret has to be sealed again. */
class StaleSecret extends Error {}

async function orStale<Result>(work: Promise<Result>): Promise<Result | typeof STALE> {
  return work.catch((error: unknown) => {
    if (error instanceof StaleSecret) return STALE;
    throw error;
  });
}

function isAddress({ vaultId, credentialId }: CredentialAddress): boolean {
  return isId('vlt', vaultId) && isId('crd', credentialId);
}

function valuesOf({ vaultId, credentialId }: CredentialAddress): unknown[] {
  return [vaultId, credentialId];
}

/** In the order of INSERT. */
function insertValues(credential: Credential, secret: SealedSecret): unknown[] {
  const { credentialId, vaultId, type, label, enabled, mcpServerUrl, hosts } = credential;
  const { publicMembers, createdBy, createdAt } = credential;
  const publicJson = JSON.stringify(publicMembers?.value ?? {});
  return [
    ...[credentialId, vaultId, type, label, enabled, mcpServerUrl, hosts, publicJson],
    ...secretValues(secret),
    ...[createdBy, createdAt, credential.expiresAt ?? null],
  ];
}

/** In the order of UPDATE_SECRET. */
function secretValues({ sealed, keyGeneration, generation, fingerprint, lastFour }: SealedSecret): unknown[] {
  return [sealed, keyGeneration, generation, fingerprint, lastFour];
}
