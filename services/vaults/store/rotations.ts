import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { isId } from '../../../lib/ids.ts';
import type { Rotation } from '../domain/rotation.ts';

const COLUMNS = `rotation_id as "rotationId", vault_id as "vaultId", status, done, total, started_at as "startedAt",
  finished_at as "finishedAt"`;

/** $2 is the vault, or empty for all vaults. Inserts nothing while another rotation runs. */
const BEGIN = statement(
  'rotations.begin',
  `insert into rotations (rotation_id, vault_id, status, total, from_kek, to_kek, worker, heartbeat_at, started_by, started_at)
   select $1, $2, 'running',
     case when $2 = '' then (select count(*) from data_keys) else (select count(*) from credentials c where c.vault_id = $2) end,
     case when $2 = '' then (select coalesce(string_agg(distinct kek_id, ',' order by kek_id), '') from data_keys) else '' end,
     $3, $4, $5, $6, $5
   on conflict (status) where status = 'running' do nothing
   returning ${COLUMNS}`,
);

const RUNNING = statement('rotations.running', `select ${COLUMNS} from rotations where status = 'running'`);

const BY_ID = statement('rotations.by_id', `select ${COLUMNS} from rotations where rotation_id = $1`);

type Row = Omit<Rotation, 'finishedAt'> & { finishedAt: Date | null };

interface RotationStart {
  rotationId: string;
  vaultId: string;
  /** The key-encryption key that wraps now. Empty for a rotation of one vault. */
  toKek: string;
  /** The replica that works on the rotation. */
  worker: string;
  startedBy: string;
  now: Date;
}

export type RotationStore = ReturnType<typeof createRotationStore>;

export function createRotationStore(db: Database) {
  return {
    /** Starts a rotation, or returns the one that runs. */
    async begin(
      start: RotationStart,
      options?: WriteOptions,
    ): Promise<{ rotation: Rotation; isNew: boolean }> {
      const { rotationId, vaultId, toKek, worker, startedBy, now } = start;
      for (;;) {
        const [row] = await db.rows<Row>(
          BEGIN,
          [rotationId, vaultId, toKek, worker, now, startedBy],
          options,
        );
        if (row) return { rotation: rotationOf(row), isNew: true };
        const [running] = await db.rows<Row>(RUNNING, [], options);
        // It may have ended between the statements.
        if (running) return { rotation: rotationOf(running), isNew: false };
      }
    },

    async rotation(rotationId: string, options?: ReadOptions): Promise<Rotation | undefined> {
      if (!isId('rot', rotationId)) return undefined;
      const [row] = await db.rows<Row>(BY_ID, [rotationId], options);
      return row && rotationOf(row);
    },
  };
}

function rotationOf({ finishedAt, ...row }: Row): Rotation {
  return { ...row, finishedAt: finishedAt ?? undefined };
}
