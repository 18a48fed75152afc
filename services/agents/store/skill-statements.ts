import { statement } from '../../../lib/db/database.ts';

const VERSION_COLUMNS = `v.version, v.sha256, v.description, v.frontmatter, v.file_count as "fileCount", v.bytes, v.warnings,
  v.workspace_id as "workspaceId"`;

const SKILL_COLUMNS = `s.skill_id as "skillId", s.name, s.enabled, s.revision, s.created_by as "createdBy",
  s.created_at as "createdAt", s.updated_at as "updatedAt", ${VERSION_COLUMNS}, v.created_by as "versionBy",
  v.created_at as "versionAt"`;

const NEWEST = 'skills s join skill_versions v on v.skill_id = s.skill_id and v.version = s.newest';

/** Inserts nothing when the name is taken. */
export const INSERT_SKILL = statement(
  'skills.insert',
  `insert into skills (skill_id, name, enabled, newest, created_by, created_at, updated_at)
   values ($1, $2, true, 1, $3, $4, $4) on conflict (name) do nothing`,
);

export const INSERT_SKILL_VERSION = statement(
  'skills.insert_version',
  `insert into skill_versions (skill_id, version, sha256, description, frontmatter, files, file_count, bytes, warnings,
     workspace_id, created_by, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
);

export const SKILL_BY_ID = statement(
  'skills.by_id',
  `select ${SKILL_COLUMNS} from ${NEWEST} where s.skill_id = $1`,
);

export const SKILL_NAME_EXISTS = statement('skills.name_exists', 'select from skills where name = $1');

/** Waits for concurrent changes of the skill, but not for agents that get it. */
export const LOCK_SKILL_FOR_CHANGE = statement(
  'skills.lock',
  'select from skills where skill_id = $1 for no key update',
);

/** Waits for agents that get the skill, and keeps others from getting it. */
export const LOCK_SKILL_FOR_DELETE = statement(
  'skills.lock_for_delete',
  'select revision from skills where skill_id = $1 for update',
);

/** Keeps the skills from being deleted before the transaction ends. */
export const LOCK_SKILLS_FOR_USE = statement(
  'skills.lock_for_use',
  `select skill_id as "skillId" from skills where skill_id = any ($1::text[]) order by skill_id for key share`,
);

/** The newest versions of agents and assistants that have the skill. */
export const COUNT_SKILL_USERS = statement(
  'skills.count_users',
  `select count(*)::integer as users from agent_versions v join agents a using (agent_id, version)
   where v.skills @> jsonb_build_array(jsonb_build_object('id', $1::text)) and v.skills <> '[]' and a.deleted_at is null`,
);

export const DELETE_SKILL = statement(
  'skills.delete',
  `with trees as (
     insert into skill_trees_to_delete (workspace_id, skill_id, due_at)
     select workspace_id, skill_id, $2 from skill_versions where skill_id = $1
     on conflict (workspace_id) do update set due_at = excluded.due_at
   )
   delete from skills where skill_id = $1`,
);

export const UPDATE_SKILL = statement(
  'skills.update',
  'update skills set enabled = $2, revision = $3, updated_at = $4 where skill_id = $1',
);

export const ADVANCE_SKILL = statement(
  'skills.advance',
  'update skills set newest = $2, revision = revision + 1, updated_at = $3 where skill_id = $1',
);

/** $1 the last id of the previous page or END_OF_SKILLS, $2 the pattern and $3 the text of the search, $4 maximum rows. */
export const LIST_SKILLS = statement(
  'skills.list',
  `with chosen as (
     select ${SKILL_COLUMNS} from ${NEWEST}
     where s.skill_id < $1 and ($3 = '' or s.name ilike $2 or v.description ilike $2 or s.skill_id = $3)
     order by s.skill_id desc limit $4::integer + 1
   )
   select *, (select count(*)::integer from chosen) as candidates from chosen order by "skillId" desc limit $4`,
);

/** The position of the first page: after every id. */
export const END_OF_SKILLS = '~';

const ONE_VERSION = `v.skill_id as "skillId", s.name, ${VERSION_COLUMNS}, v.created_by as "createdBy",
  v.created_at as "createdAt"`;

/** $1 the skill, $2 the version before the page, $3 maximum rows. */
export const LIST_SKILL_VERSIONS = statement(
  'skills.list_versions',
  `with chosen as (
     select * from skill_versions where skill_id = $1 and version < $2 order by version desc limit $3::integer + 1
   )
   select ${ONE_VERSION}, (select count(*)::integer from chosen) as candidates
   from chosen v join skills s using (skill_id) order by v.version desc limit $3`,
);

export const SKILL_VERSION = statement(
  'skills.version',
  `select ${ONE_VERSION} from skill_versions v join skills s using (skill_id) where v.skill_id = $1 and v.version = $2`,
);

/** $1 the skill, $2 the version, $3 the path before the page, $4 maximum rows. */
export const SKILL_FILES = statement(
  'skills.files',
  `with chosen as (
     select f.path, f.size, f.sha256, f.executable
     from skill_versions v, jsonb_to_recordset(v.files) as f (path text, size bigint, sha256 text, executable boolean)
     where v.skill_id = $1 and v.version = $2 and f.path collate "C" > $3
     order by f.path collate "C" limit $4::integer + 1
   )
   select *, (select count(*)::integer from chosen) as candidates from chosen order by path collate "C" limit $4`,
);

/** The newest versions of skills that exist, and if $2 of all of them, by name. */
export const EXTENSION_SKILLS = statement(
  'skills.extensions',
  `select s.skill_id as "skillId", s.name, s.enabled, s.newest, v.description, v.workspace_id as "workspaceId"
   from ${NEWEST} where s.skill_id = any ($1::text[]) or $2::boolean order by s.name limit 1000`,
);

/** Versions of skills: $1 the skills and $2 their versions. */
export const PINNED_VERSIONS = statement(
  'skills.pinned_versions',
  `select v.skill_id as "skillId", s.name, v.version, v.description, v.workspace_id as "workspaceId"
   from unnest($1::text[], $2::integer[]) as p (skill_id, version)
     join skill_versions v using (skill_id, version) join skills s using (skill_id)`,
);

export const LOOK_UP_SKILLS = statement(
  'skills.look_up',
  'select skill_id as "skillId", enabled from skills where skill_id = any ($1::text[]) order by skill_id',
);

export const EXPECT_TREE = statement(
  'skills.expect_tree',
  'insert into skill_trees_to_delete (workspace_id, skill_id, due_at) values ($1, $2, $3)',
);

export const KEEP_TREE = statement(
  'skills.keep_tree',
  'delete from skill_trees_to_delete where workspace_id = $1',
);

export const ABANDON_TREE = statement(
  'skills.abandon_tree',
  'update skill_trees_to_delete set due_at = $2 where workspace_id = $1',
);

export const TREES_TO_DELETE = statement(
  'skills.trees_to_delete',
  `select workspace_id as "workspaceId", skill_id as "skillId" from skill_trees_to_delete
   where workspace_id > $1 and due_at <= $3 order by workspace_id limit $2`,
);
