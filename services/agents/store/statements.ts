import { statement } from '../../../lib/db/database.ts';
import type { Viewer } from '../domain/access.ts';
import { DEFAULT_ENVIRONMENT } from '../domain/environment.ts';

const RUN = `v.model, v.model_options as "modelOptionsJson", v.system, v.environment_id as "environmentId",
  v.tools, v.max_steps as "maxSteps", v.max_tokens as "maxTokens", v.max_turn_seconds as "maxTurnSeconds"`;

const AGENT = `a.agent_id as "agentId", a.created_by as "createdBy", a.name, a.description, a.metadata,
  a.enabled, a.visibility, a.version, a.created_at as "createdAt", a.updated_at as "updatedAt", ${RUN}`;

const VERSION_COLUMNS = `v.agent_id as "agentId", v.version, v.created_by as "createdBy",
  v.created_at as "createdAt", ${RUN}`;

/** What stands in every statement that somebody asks for: $1 the user, $2 is an administrator, $3 goes by these names. */
export const viewerValues = ({ userId, groups, isAdministrator }: Viewer): unknown[] => [
  userId,
  isAdministrator,
  [userId, ...groups.map(groupName)],
];

/** Among the names of users, which begin with usr_. */
export const groupName = (group: string) => `group:${group}`;

const LISTED = (role: 'manager' | 'user') =>
  `exists (select 1 from agent_access x
     where x.agent_id = a.agent_id and x.principal = any ($3::text[]) and x.role = '${role}')`;

/** Null: for them it is not there. Nobody manages somebody else's assistant. */
const LEVEL = `case
    when a.created_by = $1 then 'manage'
    when $2::boolean then case when a.agent_id < 'ast_' then 'manage' else 'see' end
    when ${LISTED('manager')} then 'manage'
    when a.visibility = 'public' then 'use'
    when a.visibility = 'allowlist' and ${LISTED('user')} then 'use'
  end`;

const SEEN = `a.deleted_at is null and (${LEVEL}) is not null`;

export const INSERT = statement(
  'agents.insert',
  `insert into agents (agent_id, created_by, created_at, name, description, metadata, enabled, visibility,
     version, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

export const INSERT_VERSION = statement(
  'agents.insert_version',
  `insert into agent_versions (agent_id, version, model, model_options, system, environment_id, tools,
     max_steps, max_tokens, max_turn_seconds, bytes, created_by, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
);

export const BY_ID = statement(
  'agents.by_id',
  `select ${AGENT}, ${LEVEL} as level from agents a join agent_versions v using (agent_id, version)
   where a.agent_id = $4 and ${SEEN}`,
);

export const LEVEL_OF = statement(
  'agents.level',
  `select ${LEVEL} as level from agents a where a.agent_id = $4 and a.deleted_at is null`,
);

export const STANDING = statement(
  'agents.standing',
  `select a.version, ${LEVEL} as level, a.enabled, e.enabled and e.deleted_at is null as "environmentEnabled"
   from agents a join agent_versions v using (agent_id, version)
     join environments e on e.environment_id = coalesce(nullif(v.environment_id, ''), '${DEFAULT_ENVIRONMENT}')
   where a.agent_id = $4 and ${SEEN}`,
);

/** Waits for whoever is changing the agent; what it has become is read by the statement after this one. */
export const LOCK = statement(
  'agents.lock',
  'select agent_id from agents where agent_id = $1 and deleted_at is null for update',
);

export const UPDATE = statement(
  'agents.update',
  `update agents set name = $2, description = $3, metadata = $4, enabled = $5, visibility = $6,
     version = $7, updated_at = $8
   where agent_id = $1`,
);

export const DELETE = statement(
  'agents.delete',
  'update agents set deleted_at = $2, workspace_to_delete = $3 where agent_id = $1',
);

/** The ids of one kind stand between these two. */
export const startOf = (prefix: string) => `${prefix}_`;
export const endOf = (prefix: string) => `${prefix}~`;

const CHOSEN = `a.agent_id < $4 and a.agent_id > $9 and a.deleted_at is null
       and ($6 = '' or a.name ilike $5 or a.description ilike $5 or a.agent_id = $6)
     order by a.agent_id desc limit $7::integer + 1`;

/** Whatever makes them visible has an index of its own, so that nobody's list depends on how many others have. */
const OF_A_MEMBER = `
   select * from (select a.* from agents a where a.created_by = $1 and ${CHOSEN}) mine
   union (select a.* from agents a where a.visibility = 'public' and ${CHOSEN})
   union (
     select a.* from agent_access x join agents a using (agent_id)
     where x.principal = any ($3::text[]) and (x.role = 'manager' or a.visibility = 'allowlist') and ${CHOSEN}
   )
   order by agent_id desc limit $7::integer + 1`;

/** Of an administrator: all agents, and their own assistants. */
const OF_ALL = `select a.* from agents a where $2::boolean and (a.agent_id < 'ast_' or a.created_by = $1) and ${CHOSEN}`;

/**
 * $4 the last agent seen or the end of its kind, $5 the pattern and $6 the text searched for, $7 rows and $8 bytes at
 * most, $9 the start of its kind.
 */
const listOf = (name: string, chosen: string) =>
  statement(
    name,
    `with chosen as (${chosen}),
     measured as (
       select a.agent_id, count(*) over () as candidates, row_number() over newest as place,
         sum(v.bytes + octet_length(a.description) + octet_length(a.metadata::text)) over newest as bytes
       from chosen a join agent_versions v using (agent_id, version)
       window newest as (order by a.agent_id desc)
     )
     select ${AGENT}, ${LEVEL} as level, m.candidates
     from measured m join chosen a using (agent_id) join agent_versions v using (agent_id, version)
     where m.place = 1 or (m.place <= $7 and m.bytes <= $8)
     order by a.agent_id desc`,
  );

export const LIST = listOf('agents.list', OF_A_MEMBER);
export const LIST_ALL = listOf('agents.list_all', OF_ALL);

/** $5 the last version seen or END_OF_VERSIONS, $6 rows and $7 bytes at most. */
export const VERSIONS = statement(
  'agents.versions',
  `with measured as (
     select v.agent_id, v.version, count(*) over () as candidates, row_number() over newest as place,
       sum(v.bytes) over newest as bytes
     from (
       select v.* from agents a join agent_versions v using (agent_id)
       where a.agent_id = $4 and ${SEEN} and v.version < $5
       order by v.version desc limit $6::integer + 1
     ) v
     window newest as (order by v.version desc)
   )
   select ${VERSION_COLUMNS}, m.candidates
   from measured m join agent_versions v using (agent_id, version)
   where m.place = 1 or (m.place <= $6 and m.bytes <= $7)
   order by v.version desc`,
);

/** Of whoever's. */
export const VERSION = statement(
  'agents.version',
  `select ${VERSION_COLUMNS} from agent_versions v where v.agent_id = $1 and v.version = $2`,
);

export const RUNTIME = statement(
  'agents.runtime',
  `select ${VERSION_COLUMNS} from agent_versions v join agents a using (agent_id, version)
   where a.agent_id = $1 and a.deleted_at is null`,
);

export const NAMES_BY_ID = statement(
  'agents.names_by_id',
  `select agent_id as "agentId", name from agents a where a.agent_id = any ($4::text[]) and ${SEEN}
   order by a.agent_id desc limit 1000`,
);

const MANAGED = `
     select agent_id from agents where created_by = $1
     union select agent_id from agent_access where principal = any ($3::text[]) and role = 'manager'
     union select agent_id from agents where $2::boolean`;

/** $4 the start and $5 the end of their kind. */
export const MANAGED_IDS = statement(
  'agents.managed_ids',
  `select agent_id as "agentId" from agents a
   where a.agent_id in (${MANAGED}) and a.agent_id > $4 and a.agent_id < $5 and a.deleted_at is null
   order by a.agent_id desc limit 10000`,
);

/** $4 the pattern, $5 the start and $6 the end of their kind. */
export const NAMES_BY_NAME = statement(
  'agents.names_by_name',
  `select agent_id as "agentId", name from agents a
   where a.agent_id in (${MANAGED}) and a.name ilike $4 and a.agent_id > $5 and a.agent_id < $6 and a.deleted_at is null
   order by a.agent_id desc limit 1000`,
);

export const ACCESS = statement(
  'agents.access',
  `select access_version as version, coalesce(role, '') as role, coalesce(principal, '') as principal
   from agents left join agent_access using (agent_id) where agent_id = $1 order by role, principal`,
);

export const COUNT_ACCESS = statement(
  'agents.count_access',
  'update agents set access_version = access_version + 1 where agent_id = $1',
);

export const CLEAR_ACCESS = statement('agents.clear_access', 'delete from agent_access where agent_id = $1');

/** $2 roles and $3 principals, side by side. */
export const INSERT_ACCESS = statement(
  'agents.insert_access',
  `insert into agent_access (agent_id, role, principal)
   select $1, role, principal from unnest($2::text[], $3::text[]) as given (role, principal)`,
);
