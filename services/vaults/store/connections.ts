import type { Database, ReadOptions, WriteOptions } from '../../../lib/db/database.ts';
import { isId } from '../../../lib/ids.ts';
import type { Connection } from '../domain/connection.ts';
import type { PublicMembers, SealedSecret } from '../domain/credential.ts';
import type { WrappedKey } from '../keys/vault-keys.ts';
import * as sql from './connection-statements.ts';
import { type CredentialRow, credentialFromRow } from './credential-rows.ts';
import { lockDataKey } from './data-keys.ts';

/** The credential of a new connection, to be sealed for its id and generation. */
export interface ConnectionSlot {
  vaultId: string;
  credentialId: string;
  generation: number;
}

/** What a connection stores besides its secret. */
export interface ConnectionGrant {
  ownerId: string;
  mcpServerId: string;
  mcpServerUrl: string;
  type: 'bearer' | 'oauth2';
  publicMembers: PublicMembers;
  account: string;
  scopes: string[];
  expiresAt: Date | undefined;
}

type Row = CredentialRow &
  Pick<Connection, 'mcpServerId' | 'account' | 'useInTriggeredSessions' | 'wantedScopes'>;

export type ConnectionStore = ReturnType<typeof createConnectionStore>;

/** The connections of users: credentials of their personal vaults. Every method works for one owner. */
export function createConnectionStore(db: Database) {
  async function vaultOf(ownerId: string, options?: ReadOptions): Promise<string | undefined> {
    const [row] = await db.rows<{ vaultId: string }>(sql.VAULT_OF, [ownerId], options);
    return row?.vaultId;
  }

  return {
    /** Newest first. */
    async list(ownerId: string, options?: ReadOptions): Promise<Connection[]> {
      return (await db.rows<Row>(sql.LIST, [ownerId], options)).map(connectionFromRow);
    },

    async find(
      ownerId: string,
      connectionId: string,
      options?: ReadOptions,
    ): Promise<Connection | undefined> {
      if (!isId('crd', connectionId)) return undefined;
      const [row] = await db.rows<Row>(sql.BY_ID, [ownerId, connectionId], options);
      return row && connectionFromRow(row);
    },

    async ofServer(
      ownerId: string,
      mcpServerId: string,
      options?: ReadOptions,
    ): Promise<Connection | undefined> {
      const [row] = await db.rows<Row>(sql.BY_SERVER, [ownerId, mcpServerId], options);
      return row && connectionFromRow(row);
    },

    /** Returns the personal vault of a user, which is made at the first use. */
    async openVault(ownerId: string, newVaultId: string, now: Date, options?: WriteOptions): Promise<string> {
      const known = await vaultOf(ownerId, options);
      if (known !== undefined) return known;
      await db.change(sql.ADD_VAULT, [newVaultId, ownerId, now], options);
      const added = await vaultOf(ownerId, options);
      if (added === undefined) throw new Error(`the personal vault of ${ownerId} was not made`);
      return added;
    },

    /** How many credentials a personal vault has. */
    async count(vaultId: string, options?: ReadOptions): Promise<number> {
      const [row] = await db.rows<{ credentials: number }>(sql.COUNT, [vaultId], options);
      return row?.credentials ?? 0;
    },

    /**
     * Stores a connection, or replaces the one to the same server. Returns false if the slot is no longer the next one of
     * the server, or its data key has ended: it has to be sealed again.
     */
    async put(
      { vaultId, credentialId, generation }: ConnectionSlot,
      grant: ConnectionGrant,
      { sealed, keyGeneration, fingerprint, lastFour }: SealedSecret,
      now: Date,
      options?: WriteOptions,
    ): Promise<boolean> {
      const { ownerId, mcpServerId, mcpServerUrl, type, publicMembers, account, scopes } = grant;
      const publicJson = JSON.stringify(publicMembers?.value ?? {});
      const expiresAt = grant.expiresAt ?? null;
      return db.transaction(async (tx) => {
        if ((await tx.rows(sql.LOCK_VAULT, [vaultId])).length === 0) return false;
        const [known] = await tx.rows<{ credentialId: string; generation: number }>(sql.LOCK, [
          vaultId,
          mcpServerId,
        ]);
        const isNext = known
          ? known.credentialId === credentialId && known.generation + 1 === generation
          : generation === 1;
        if (!isNext || !(await lockDataKey(tx, vaultId, keyGeneration))) return false;
        if (known) {
          await tx.change(sql.REPLACE, [
            ...[credentialId, type, publicJson, sealed, keyGeneration, generation, fingerprint, lastFour],
            ...[expiresAt, account, scopes, now, now],
          ]);
        } else {
          await tx.change(sql.INSERT, [
            ...[credentialId, vaultId, type, '', mcpServerUrl, publicJson, sealed, keyGeneration, generation],
            ...[fingerprint, lastFour, expiresAt, mcpServerId, account, scopes, now, ownerId, now],
          ]);
        }
        return true;
      }, options);
    },

    /** The sealed secret with the data key that opens it. */
    async secret(connectionId: string, options?: ReadOptions) {
      const [row] = await db.rows<WrappedKey & { secretGeneration: number; sealed: Buffer }>(
        sql.SEALED,
        [connectionId],
        options,
      );
      if (!row) return undefined;
      const { secretGeneration: generation, sealed, ...key } = row;
      return { key, generation, sealed };
    },

    /** Changes the consent of a locked connection, unless `check` refuses it. Undefined: it was deleted. */
    async setUseInTriggeredSessions(
      ownerId: string,
      connectionId: string,
      isUsed: boolean,
      check: (connection: Connection) => void,
      now: Date,
      options?: WriteOptions,
    ): Promise<Connection | undefined> {
      return db.transaction(async (tx) => {
        await tx.rows(sql.LOCK_BY_ID, [connectionId]);
        const [before] = await tx.rows<Row>(sql.BY_ID, [ownerId, connectionId]);
        if (!before) return undefined;
        check(connectionFromRow(before));
        await tx.change(sql.SET_TRIGGERED, [connectionId, isUsed, now]);
        const [after] = await tx.rows<Row>(sql.BY_ID, [ownerId, connectionId]);
        return after && connectionFromRow(after);
      }, options);
    },

    /** Deletes a locked connection, unless `check` refuses it. Returns false if it was deleted before. */
    async delete(
      ownerId: string,
      connectionId: string,
      check: (connection: Connection) => void,
      options?: WriteOptions,
    ): Promise<boolean> {
      return db.transaction(async (tx) => {
        await tx.rows(sql.LOCK_BY_ID, [connectionId]);
        const [row] = await tx.rows<Row>(sql.BY_ID, [ownerId, connectionId]);
        if (!row) return false;
        check(connectionFromRow(row));
        return (await tx.change(sql.DELETE, [connectionId])) > 0;
      }, options);
    },
  };
}

function connectionFromRow(row: Row): Connection {
  const { mcpServerId, account, useInTriggeredSessions, wantedScopes, ...credential } = row;
  return { ...credentialFromRow(credential), mcpServerId, account, useInTriggeredSessions, wantedScopes };
}
