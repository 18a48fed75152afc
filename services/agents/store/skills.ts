import type { Database, DatabaseSession, ReadOptions, WriteOptions } from '../../../lib/db/database.ts';
import {
  findAnswer,
  type IdempotencyKey,
  type IdempotentAnswer,
  runOnce,
} from '../../../lib/db/idempotency.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { isId } from '../../../lib/ids.ts';
import {
  checkSkillUnused,
  type NewSkillVersion,
  type Skill,
  type SkillFile,
  type SkillVersion,
  skillNameTaken,
  skillNotFound,
  skillVersionNotFound,
} from '../domain/skill.ts';
import {
  decodePosition,
  END_OF_VERSIONS,
  isVersionNumber,
  nextCursor,
  type PageOf,
  type PageRequest,
  type PageRow,
} from './paging.ts';
import { type SkillRow, skillFromRow } from './skill-rows.ts';
import * as sql from './skill-statements.ts';

export type SkillStore = ReturnType<typeof createSkillStore>;

/** A skill after an archive was received, and whether the archive made a version. */
export interface Published {
  skill: Skill;
  created: boolean;
}

/** Skills. The handlers decide who can read and change them. */
export function createSkillStore(db: Database) {
  const find = async (skillId: string, options?: ReadOptions): Promise<Skill> => {
    const [row] = isId('skl', skillId) ? await db.rows<SkillRow>(sql.SKILL_BY_ID, [skillId], options) : [];
    if (!row) throw skillNotFound();
    return skillFromRow(row);
  };

  return {
    skill: find,

    async hasName(name: string, options?: ReadOptions): Promise<boolean> {
      return (await db.rows(sql.SKILL_NAME_EXISTS, [name], options)).length > 0;
    },

    /** The answer of an earlier request with the key; undefined without one. */
    earlierAnswer: (key: IdempotencyKey, options?: ReadOptions) => findAnswer(db, key, options),

    /** Creates a skill with its first version. Refused with NAME_TAKEN. */
    create(
      skillId: string,
      version: NewSkillVersion,
      key: IdempotencyKey,
      encode: (published: Published) => Uint8Array,
      options?: WriteOptions,
    ): Promise<IdempotentAnswer> {
      const { name, createdBy, createdAt } = version;
      return runOnce(
        db,
        key,
        async (tx) => {
          if ((await tx.change(sql.INSERT_SKILL, [skillId, name, createdBy, createdAt])) === 0)
            throw skillNameTaken(name);
          await insertVersion(tx, skillId, 1, version);
          return encode({ skill: await read(tx, skillId), created: true });
        },
        options,
      );
    },

    /** Adds a version, unless the newest one has the same files. */
    addVersion(
      skillId: string,
      version: NewSkillVersion,
      key: IdempotencyKey,
      encode: (published: Published) => Uint8Array,
      options?: WriteOptions,
    ): Promise<IdempotentAnswer> {
      return runOnce(
        db,
        key,
        async (tx) => {
          const before = await lock(tx, skillId);
          if (before.newest.sha256 === version.sha256) return encode({ skill: before, created: false });
          const next = before.newest.version + 1;
          await insertVersion(tx, skillId, next, version);
          await tx.change(sql.ADVANCE_SKILL, [skillId, next, version.createdAt]);
          return encode({ skill: await read(tx, skillId), created: true });
        },
        options,
      );
    },

    /** Cursors are bound to the caller and the search text. */
    async list(caller: string, q: string, page: PageRequest, options?: ReadOptions): Promise<PageOf<Skill>> {
      const scope = ['ListSkills', caller, q];
      const after = decodePosition(scope, page, (key) => isId('skl', key)) ?? sql.END_OF_SKILLS;
      const values = [after, likePattern(q), q, page.limit];
      const rows = await db.rows<SkillRow & PageRow>(sql.LIST_SKILLS, values, options);
      return { items: rows.map(skillFromRow), nextCursor: nextCursor(rows, scope, (row) => row.skillId) };
    },

    /** Changes a locked skill. `change` returns the same object to leave it unchanged. */
    async change(skillId: string, change: (skill: Skill) => Skill, options?: WriteOptions): Promise<Skill> {
      return db.transaction(async (tx) => {
        const before = await lock(tx, skillId);
        const after = change(before);
        const { enabled, revision, updatedAt } = after;
        if (after !== before) await tx.change(sql.UPDATE_SKILL, [skillId, enabled, revision, updatedAt]);
        return after;
      }, options);
    },

    /**
     * Deletes a skill with its versions, unless `check` refuses its revision. Refused with RESOURCE_IN_USE while agents have
     * it. Agents that get it meanwhile wait and are refused.
     */
    async delete(
      skillId: string,
      check: (revision: number) => void,
      now: Date,
      options?: WriteOptions,
    ): Promise<void> {
      await db.transaction(async (tx) => {
        const [locked] = await tx.rows<Pick<Skill, 'revision'>>(sql.LOCK_SKILL_FOR_DELETE, [skillId]);
        if (!locked) throw skillNotFound();
        check(locked.revision);
        const [counted] = await tx.rows<{ users: number }>(sql.COUNT_SKILL_USERS, [skillId]);
        checkSkillUnused(counted?.users ?? 0);
        await tx.change(sql.DELETE_SKILL, [skillId, now]);
      }, options);
    },

    async versions(skillId: string, page: PageRequest, options?: ReadOptions): Promise<PageOf<SkillVersion>> {
      const scope = ['ListSkillVersions', skillId];
      const after = decodePosition(scope, page, isVersionNumber) ?? END_OF_VERSIONS;
      const rows = await db.rows<SkillVersion & PageRow>(
        sql.LIST_SKILL_VERSIONS,
        [skillId, after, page.limit],
        options,
      );
      return { items: rows, nextCursor: nextCursor(rows, scope, (row) => String(row.version)) };
    },

    async version(skillId: string, version: number, options?: ReadOptions): Promise<SkillVersion> {
      const [row] = await db.rows<SkillVersion>(sql.SKILL_VERSION, [skillId, version], options);
      if (!row) throw skillVersionNotFound(version);
      return row;
    },

    async files(
      skillId: string,
      version: number,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<PageOf<SkillFile>> {
      const scope = ['ListSkillFiles', skillId, String(version)];
      const after = decodePosition(scope, page, (key) => key !== '') ?? '';
      const rows = await db.rows<SkillFile & PageRow>(
        sql.SKILL_FILES,
        [skillId, version, after, page.limit],
        options,
      );
      return { items: rows, nextCursor: nextCursor(rows, scope, (row) => row.path) };
    },

    async lookUp(skillIds: readonly string[], options?: ReadOptions) {
      return db.rows<Pick<Skill, 'skillId' | 'enabled'>>(sql.LOOK_UP_SKILLS, [skillIds], options);
    },
  };
}

async function lock(tx: DatabaseSession, skillId: string): Promise<Skill> {
  const locked = await tx.rows(sql.LOCK_SKILL_FOR_CHANGE, [skillId]);
  if (locked.length === 0) throw skillNotFound();
  return read(tx, skillId);
}

async function read(tx: DatabaseSession, skillId: string): Promise<Skill> {
  const [row] = await tx.rows<SkillRow>(sql.SKILL_BY_ID, [skillId]);
  if (!row) throw skillNotFound();
  return skillFromRow(row);
}

async function insertVersion(
  tx: DatabaseSession,
  skillId: string,
  number: number,
  version: NewSkillVersion,
): Promise<void> {
  const { sha256, description, frontmatter, files, fileCount, bytes, warnings, workspaceId } = version;
  const texts = [frontmatter, files, warnings].map((value) => JSON.stringify(value));
  const [facts, list, notes] = texts;
  await tx.change(sql.INSERT_SKILL_VERSION, [
    ...[skillId, number, sha256, description, facts, list, fileCount, bytes, notes, workspaceId],
    ...[version.createdBy, version.createdAt],
  ]);
  await tx.change(sql.KEEP_TREE, [workspaceId]);
}
