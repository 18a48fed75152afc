import { type Database, type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { RunningRotation } from '../domain/rotation.ts';
import type { WrappedKey } from '../keys/vault-keys.ts';
import { insertDataKey, KEY_COLUMNS, newestDataKey } from './data-keys.ts';

/** Takes the running rotation, unless another replica has worked on it since $3. */
const CLAIM = statement(
  'rotations.claim',
  `update rotations set worker = $1, heartbeat_at = $2
   where status = 'running' and (worker = $1 or heartbeat_at < $3)
   returning rotation_id as "rotationId", vault_id as "vaultId", cursor, to_generation as "toGeneration"`,
);

const RELEASE = statement(
  'rotations.release',
  `update rotations set heartbeat_at = '-infinity' where status = 'running' and worker = $1`,
);

/** $4 the new cursor, $5 how many were processed, $6 how many could not be opened. */
const ADVANCE = statement(
  'rotations.advance',
  `update rotations set cursor = $4, done = done + $5, total = greatest(total, done + $5), failed = failed + $6, heartbeat_at = $3
   where rotation_id = $1 and worker = $2 and status = 'running'`,
);

const SET_GENERATION = statement(
  'rotations.set_generation',
  `update rotations set to_generation = $4, heartbeat_at = $3
   where rotation_id = $1 and worker = $2 and status = 'running'`,
);

const LOCK = statement(
  'rotations.lock',
  `select failed from rotations where rotation_id = $1 and worker = $2 and status = 'running' for update`,
);

const START_PASS = statement(
  'rotations.start_pass',
  `update rotations set cursor = '', failed = 0, heartbeat_at = $2 where rotation_id = $1`,
);

const FINISH = statement(
  'rotations.finish',
  `update rotations set status = $2, total = greatest(done, case when $2 = 'done' then done else total end), finished_at = $3
   where rotation_id = $1`,
);

/** The data key after a cursor. */
const NEXT_KEY = statement(
  'rotations.next_data_key',
  `select ${KEY_COLUMNS} from data_keys k where (k.vault_id, k.generation) > ($1, $2)
   order by k.vault_id, k.generation limit 1`,
);

const REWRAP = statement(
  'rotations.rewrap',
  `update data_keys set wrapped = $4, kek_id = $5, kek_annotations = $6
   where vault_id = $1 and generation = $2 and wrapped = $3`,
);

/** The credential after a cursor that is sealed with an older data key, with that key. */
const NEXT_CREDENTIAL = statement(
  'rotations.next_credential',
  `select ${KEY_COLUMNS}, c.credential_id as "credentialId", c.generation as "secretGeneration", c.sealed
   from credentials c join data_keys k on k.vault_id = c.vault_id and k.generation = c.key_generation
   where c.vault_id = $1 and c.key_generation < $2 and c.credential_id > $3 order by c.credential_id limit 1`,
);

/** Changes nothing if the secret was changed or the credential deleted meanwhile. */
const RESEAL = statement(
  'rotations.reseal',
  `update credentials set sealed = $4, key_generation = $5
   where credential_id = $1 and generation = $2 and key_generation = $3`,
);

/** Waits for transactions that add or change credentials with the older data keys of a vault. */
const LOCK_OLD_KEYS = statement(
  'rotations.lock_old_keys',
  'select generation from data_keys where vault_id = $1 and generation < $2 order by generation for update',
);

const DROP_OLD_KEYS = statement(
  'rotations.drop_old_keys',
  `delete from data_keys k where k.vault_id = $1 and k.generation < $2
     and not exists (select from credentials c where c.vault_id = k.vault_id and c.key_generation = k.generation)`,
);

const COUNT_OLD = statement(
  'rotations.count_old',
  'select count(*)::integer as remaining from credentials where vault_id = $1 and key_generation < $2',
);

/** A credential that is sealed with an older data key. */
interface CredentialToSeal {
  key: WrappedKey;
  credentialId: string;
  generation: number;
  sealed: Buffer;
}

/** Another replica has taken the rotation. */
export class RotationLost extends Error {}

export type RotationStepStore = ReturnType<typeof createRotationStepStore>;

/** The steps of rotations. Each step is one transaction, which only the replica that has claimed the rotation can commit. */
export function createRotationStepStore(db: Database, worker: string) {
  /** Runs a step, and counts its progress in the same transaction. */
  async function advance(
    { rotationId }: RunningRotation,
    { cursor, done, failed }: { cursor: string; done: number; failed: number },
    now: Date,
    work: (tx: DatabaseSession) => Promise<void> = async () => {},
  ): Promise<void> {
    await db.transaction(async (tx) => {
      const changed = await tx.change(ADVANCE, [rotationId, worker, now, cursor, done, failed]);
      if (changed === 0) throw new RotationLost();
      await work(tx);
    });
  }

  return {
    /** Returns the running rotation, unless another replica has worked on it since a time. */
    async claim(now: Date, staleBefore: Date): Promise<RunningRotation | undefined> {
      const [row] = await db.rows<RunningRotation & { toGeneration: number | null }>(CLAIM, [
        worker,
        now,
        staleBefore,
      ]);
      return row && { ...row, toGeneration: row.toGeneration ?? undefined };
    },

    /** Lets another replica take the rotation at once. */
    async release(): Promise<void> {
      await db.change(RELEASE, [worker]);
    },

    async nextKey({ cursor }: RunningRotation): Promise<WrappedKey | undefined> {
      const [vaultId = '', generation = '0'] = cursor.split(' ');
      const [row] = await db.rows<WrappedKey>(NEXT_KEY, [vaultId, Number(generation)]);
      return row;
    },

    /** Replaces a wrapped data key and moves the cursor behind it. */
    async saveKey(
      rotation: RunningRotation,
      before: WrappedKey,
      after: WrappedKey,
      now: Date,
    ): Promise<void> {
      const { vaultId, generation, wrapped, kekId, kekAnnotations } = after;
      await advance(rotation, { cursor: cursorOf(before), done: 1, failed: 0 }, now, async (tx) => {
        const annotations = JSON.stringify(kekAnnotations);
        await tx.change(REWRAP, [vaultId, generation, before.wrapped, wrapped, kekId, annotations]);
      });
    },

    /** Moves the cursor behind a data key that cannot be opened. */
    skipKey: (rotation: RunningRotation, key: WrappedKey, now: Date) =>
      advance(rotation, { cursor: cursorOf(key), done: 0, failed: 1 }, now),

    newestKey: (vaultId: string) => newestDataKey(db, vaultId),

    /** Adds the new data key of a vault. A vault that was deleted meanwhile gets none. */
    async addGeneration({ rotationId }: RunningRotation, key: WrappedKey, now: Date): Promise<void> {
      await db.transaction(async (tx) => {
        await insertDataKey(tx, key, now);
        const changed = await tx.change(SET_GENERATION, [rotationId, worker, now, key.generation]);
        if (changed === 0) throw new RotationLost();
      });
    },

    async nextCredential(
      { vaultId, cursor }: RunningRotation,
      toGeneration: number,
    ): Promise<CredentialToSeal | undefined> {
      const [row] = await db.rows<
        WrappedKey & { credentialId: string; secretGeneration: number; sealed: Buffer }
      >(NEXT_CREDENTIAL, [vaultId, toGeneration, cursor]);
      if (!row) return undefined;
      const { credentialId, secretGeneration: generation, sealed, ...key } = row;
      return { key, credentialId, generation, sealed };
    },

    /** Replaces a sealed secret and moves the cursor behind it. */
    async saveCredential(
      rotation: RunningRotation,
      before: CredentialToSeal,
      { sealed, keyGeneration }: { sealed: Buffer; keyGeneration: number },
      now: Date,
    ): Promise<void> {
      const { credentialId, generation, key } = before;
      await advance(rotation, { cursor: credentialId, done: 1, failed: 0 }, now, async (tx) => {
        await tx.change(RESEAL, [credentialId, generation, key.generation, sealed, keyGeneration]);
      });
    },

    /** Moves the cursor behind a credential that cannot be opened. */
    skipCredential: (rotation: RunningRotation, { credentialId }: CredentialToSeal, now: Date) =>
      advance(rotation, { cursor: credentialId, done: 0, failed: 1 }, now),

    /**
     * Drops the older data keys of the vault that no credential needs. Ends the rotation, or starts another pass when
     * credentials were added behind the cursor with an older key. Returns whether the rotation has ended.
     */
    async endPass(
      { rotationId, vaultId }: RunningRotation,
      toGeneration: number,
      outcomeOf: (failed: number) => string,
      now: Date,
    ): Promise<boolean> {
      return db.transaction(async (tx) => {
        const [rotation] = await tx.rows<{ failed: number }>(LOCK, [rotationId, worker]);
        if (!rotation) throw new RotationLost();
        await tx.rows(LOCK_OLD_KEYS, [vaultId, toGeneration]);
        await tx.change(DROP_OLD_KEYS, [vaultId, toGeneration]);
        const [counted] = await tx.rows<{ remaining: number }>(COUNT_OLD, [vaultId, toGeneration]);
        const { remaining = 0 } = counted ?? {};
        const hasEnded = remaining <= rotation.failed;
        if (hasEnded) await tx.change(FINISH, [rotationId, outcomeOf(remaining), now]);
        else await tx.change(START_PASS, [rotationId, now]);
        return hasEnded;
      });
    },

    /** Ends a rotation that has no step left. `failed` is added to the items that could not be opened. */
    async finish(
      { rotationId }: RunningRotation,
      outcomeOf: (failed: number) => string,
      now: Date,
      failed = 0,
    ): Promise<void> {
      await db.transaction(async (tx) => {
        const [rotation] = await tx.rows<{ failed: number }>(LOCK, [rotationId, worker]);
        if (!rotation) throw new RotationLost();
        await tx.change(FINISH, [rotationId, outcomeOf(rotation.failed + failed), now]);
      });
    },
  };
}

function cursorOf({ vaultId, generation }: WrappedKey): string {
  return `${vaultId} ${generation}`;
}
