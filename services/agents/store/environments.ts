import type { Database, DatabaseSession, ReadOptions, WriteOptions } from '../../../lib/db/database.ts';
import { runOnce } from '../../../lib/db/idempotency.ts';
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
import * as sql from './environment-statements.ts';
import type { IdempotentCreation } from './idempotent-creation.ts';
import {
  decodePosition,
  END_OF_VERSIONS,
  isVersionNumber,
  nextCursor,
  PAGE_BYTES,
  type PageOf,
  type PageRequest,
  type PageRow,
} from './paging.ts';

export type EnvironmentStore = ReturnType<typeof createEnvironmentStore>;

/** All users share environments. The handlers decide who can read and change them. */
export function createEnvironmentStore(db: Database) {
  return {
    /** Creates an environment, or returns the answer of an earlier request with the same key. Refused with NAME_TAKEN. */
    create(environment: Environment, { key, request, answer }: IdempotentCreation, options?: WriteOptions) {
      const { environmentId, name, enabled, version, createdBy, createdAt, updatedAt } = environment;
      return runOnce(
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

    /** Cursors are bound to the caller and the search text. */
    async list(caller: string, q: string, page: PageRequest, options?: ReadOptions) {
      const scope = ['ListEnvironments', caller, q];
      const after = decodePosition(scope, page, (key) => isId('env', key)) ?? sql.END_OF_ENVIRONMENTS;
      const values = [after, likePattern(q), q, page.limit, PAGE_BYTES];
      const rows = await db.rows<Environment & PageRow>(sql.LIST_ENVIRONMENTS, values, options);
      return pageOf(
        rows,
        nextCursor(rows, scope, (row) => row.environmentId),
      );
    },

    /** Changes a locked environment. `change` returns the same object to leave it unchanged. */
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

    /**
     * Deletes an environment, unless `check` refuses its version. Refused with RESOURCE_IN_USE while agents use it. Agents
     * that start to use it meanwhile wait and are refused.
     */
    async delete(
      environmentId: string,
      check: (version: number) => void,
      now: Date,
      options?: WriteOptions,
    ): Promise<void> {
      if (!isId('env', environmentId)) throw environmentNotFound();
      await db.transaction(async (tx) => {
        const [locked] = await tx.rows<Pick<Environment, 'version'>>(sql.LOCK_ENVIRONMENT_FOR_DELETE, [
          environmentId,
        ]);
        if (!locked) throw environmentNotFound();
        check(locked.version);
        const [counted] = await tx.rows<{ users: number }>(sql.COUNT_USERS, [environmentId]);
        checkUnused(environmentId, counted?.users ?? 0);
        await tx.change(sql.DELETE_ENVIRONMENT, [environmentId, now]);
      }, options);
    },

    async versions(caller: string, environmentId: string, page: PageRequest, options?: ReadOptions) {
      const scope = ['ListEnvironmentVersions', caller, environmentId];
      const after = decodePosition(scope, page, isVersionNumber) ?? END_OF_VERSIONS;
      const values = [environmentId, after, page.limit, PAGE_BYTES];
      const rows = await db.rows<EnvironmentVersion & PageRow>(sql.ENVIRONMENT_VERSIONS, values, options);
      return pageOf(
        rows,
        nextCursor(rows, scope, (row) => String(row.version)),
      );
    },
  };
}

/**
 * Keeps an environment from being deleted before the transaction ends. The empty id names the default environment, which
 * always exists. Refused with INVALID_REQUEST for an unknown environment.
 */
export async function requireEnvironment(tx: DatabaseSession, environmentId: string): Promise<void> {
  if (environmentId === '') return;
  const found = isId('env', environmentId)
    ? await tx.rows(sql.LOCK_ENVIRONMENT_FOR_USE, [environmentId])
    : [];
  if (found.length === 0) throw refuseField('/environment_id', 'must name an existing environment');
}

async function lock(tx: DatabaseSession, environmentId: string): Promise<Environment> {
  if (!isId('env', environmentId)) throw environmentNotFound();
  const locked = await tx.rows(sql.LOCK_ENVIRONMENT_FOR_CHANGE, [environmentId]);
  const [row] = locked.length > 0 ? await tx.rows<Environment>(sql.ENVIRONMENT_BY_ID, [environmentId]) : [];
  if (!row) throw environmentNotFound();
  return row;
}

async function insertVersion(
  tx: DatabaseSession,
  environment: Environment,
  createdBy: string,
): Promise<void> {
  const { environmentId, version, spec, enabled, updatedAt } = environment;
  const values = [environmentId, version, JSON.stringify(spec), enabled, createdBy, updatedAt];
  await tx.change(sql.INSERT_ENVIRONMENT_VERSION, values);
}

function pageOf<Row extends PageRow>(rows: Row[], cursor: string): PageOf<Omit<Row, 'candidates'>> {
  return { items: rows.map(({ candidates: _, ...row }) => row), nextCursor: cursor };
}
