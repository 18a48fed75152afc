import type { Database, ReadOptions, Session, WriteOptions } from '../../../lib/db/database.ts';
import { once } from '../../../lib/db/idempotency.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { refuseField } from '../../../lib/errors.ts';
import { isId } from '../../../lib/ids.ts';
import {
  checkUnused,
  type Environment,
  type EnvironmentVersion,
  environmentNotFound,
  nameTaken,
} from '../domain/environment.ts';
import type { Creation } from './creation.ts';
import * as sql from './environment-statements.ts';
import {
  END_OF_VERSIONS,
  isVersionNumber,
  nextCursor,
  PAGE_BYTES,
  type PageOf,
  type PageRequest,
  type PageRow,
  placeIn,
} from './paging.ts';

export type EnvironmentStore = ReturnType<typeof createEnvironmentStore>;

/** Environments are everybody's; who may see and change them is for the handlers to say. */
export function createEnvironmentStore(db: Database) {
  return {
    /** Creates it, or gives the answer that an earlier request with the same key got. Refused with NAME_TAKEN. */
    create(environment: Environment, { key, request, answer }: Creation, options?: WriteOptions) {
      const { environmentId, name, enabled, version, createdBy, createdAt, updatedAt } = environment;
      return once(
        db,
        { caller: createdBy, key, method: 'CreateEnvironment', request, now: createdAt },
        async (tx) => {
          const values = [environmentId, name, enabled, version, createdBy, createdAt, updatedAt];
          if ((await tx.change(sql.INSERT_ENVIRONMENT, values)) === 0) throw nameTaken(name);
          await insertVersion(tx, environment, createdBy);
          return answer;
        },
        options,
      );
    },

    async environment(environmentId: string, options?: ReadOptions): Promise<Environment | undefined> {
      if (!isId('env', environmentId)) return undefined;
      const [row] = await db.rows<Environment>(sql.ENVIRONMENT_BY_ID, [environmentId], options);
      return row;
    },

    /** `scope` says who lists them: cursors belong to their caller. */
    async list(caller: string, q: string, page: PageRequest, options?: ReadOptions) {
      const scope = ['ListEnvironments', caller, q];
      const after = placeIn(scope, page, (key) => isId('env', key)) ?? sql.END_OF_ENVIRONMENTS;
      const values = [after, likePattern(q), q, page.limit, PAGE_BYTES];
      const rows = await db.rows<Environment & PageRow>(sql.LIST_ENVIRONMENTS, values, options);
      return pageOf(
        rows,
        nextCursor(rows, scope, (row) => row.environmentId),
      );
    },

    /** Changes it while nobody else does. `change` returns the same environment to leave it as it is. */
    async change(
      changedBy: string,
      environmentId: string,
      change: (environment: Environment) => Environment,
      options?: WriteOptions,
    ) {
      return db.transaction(async (tx) => {
        const before = await lock(tx, environmentId);
        const after = change(before);
        if (after !== before) {
          await insertVersion(tx, after, changedBy);
          const values = [environmentId, after.enabled, after.version, after.updatedAt];
          await tx.change(sql.UPDATE_ENVIRONMENT, values);
        }
        return { before, after };
      }, options);
    },

    /** Refused with RESOURCE_IN_USE while somebody needs it. Whoever would begin to use it meanwhile waits, and is refused. */
    async delete(environmentId: string, now: Date, options?: WriteOptions): Promise<void> {
      if (!isId('env', environmentId)) throw environmentNotFound();
      await db.transaction(async (tx) => {
        const seized = await tx.rows(sql.SEIZE_ENVIRONMENT, [environmentId]);
        if (seized.length === 0) throw environmentNotFound();
        const [counted] = await tx.rows<{ users: number }>(sql.COUNT_USERS, [environmentId]);
        checkUnused(environmentId, counted?.users ?? 0);
        await tx.change(sql.DELETE_ENVIRONMENT, [environmentId, now]);
      }, options);
    },

    async versions(caller: string, environmentId: string, page: PageRequest, options?: ReadOptions) {
      const scope = ['ListEnvironmentVersions', caller, environmentId];
      const after = placeIn(scope, page, isVersionNumber) ?? END_OF_VERSIONS;
      const values = [environmentId, after, page.limit, PAGE_BYTES];
      const rows = await db.rows<EnvironmentVersion & PageRow>(sql.ENVIRONMENT_VERSIONS, values, options);
      return pageOf(
        rows,
        nextCursor(rows, scope, (row) => String(row.version)),
      );
    },
  };
}

/** Makes sure that an environment is there until the end of the transaction. Empty is the default one, which always is. */
export async function requireEnvironment(tx: Session, environmentId: string): Promise<void> {
  if (environmentId === '') return;
  const found = isId('env', environmentId) ? await tx.rows(sql.HOLD_ENVIRONMENT, [environmentId]) : [];
  if (found.length === 0) throw refuseField('/environment_id', 'names an environment that does not exist');
}

async function lock(tx: Session, environmentId: string): Promise<Environment> {
  if (!isId('env', environmentId)) throw environmentNotFound();
  const locked = await tx.rows(sql.LOCK_ENVIRONMENT, [environmentId]);
  const [row] = locked.length > 0 ? await tx.rows<Environment>(sql.ENVIRONMENT_BY_ID, [environmentId]) : [];
  if (!row) throw environmentNotFound();
  return row;
}

async function insertVersion(tx: Session, environment: Environment, createdBy: string): Promise<void> {
  const { environmentId, version, spec, enabled, updatedAt } = environment;
  const values = [environmentId, version, JSON.stringify(spec), enabled, createdBy, updatedAt];
  await tx.change(sql.INSERT_ENVIRONMENT_VERSION, values);
}

function pageOf<Row extends PageRow>(rows: Row[], cursor: string): PageOf<Omit<Row, 'candidates'>> {
  return { items: rows.map(({ candidates: _, ...row }) => row), nextCursor: cursor };
}
