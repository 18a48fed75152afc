import { statement } from '../../../lib/db/database.ts';
import type { AgentViewer } from '../domain/access.ts';
import { DEFAULT_ENVIRONMENT } from '../domain/environment.ts';
import { SELECT_RUNTIME, VERSION_INSERT_COLUMNS } from './rows.ts';

const AGENT_COLUMNS = `a.agent_id as "agentId", a.created_by as "createdBy", a.name, a.description, a.metadata,
  a.enabled, a.visibility, a.exposed_to_mcp as "exposedToMcp", a.exposed_to_openai as "exposedToOpenai",
  a.exposed_to_a2a as "exposedToA2a", a.version, a.revision, a.created_at as "createdAt", a.updated_at as "updatedAt",
  ${SELECT_RUNTIME}`;

const VERSION_COLUMNS = `v.agent_id as "agentId", v.version, v.created_by as "createdBy",
  v.created_at as "createdAt", ${SELECT_RUNTIME}`;

/** The first parameters of every statement on behalf of a user: $1 the user id, $2 whether they are an administrator, $3 the user id and group names. */
export const viewerValues = ({ userId, groups, isAdministrator }: AgentViewer): unknown[] => [
  userId,
  isAdministrator,
  [userId, ...groups.map(groupName)],
];

/** The principal of a group. It cannot clash with user ids, which begin with usr_. */
export const groupName = (group: string) => `group:${group}`;

const HAS_ROLE = (role: 'manager' | 'user') =>
  `exists (select 1 from agent_access x
     where x.agent_id = a.agent_id and x.principal = any ($3::text[]) and x.role = '${role}')`;

/** Null when the user cannot see the agent. Only its owner manages an assistant; administrators see it. */
const LEVEL = `case
    when a.created_by = $1 then 'manage'
    when $2::boolean then case when a.agent_id < 'ast_' then 'manage' else 'see' end
    when ${HAS_ROLE('manager')} then 'manage'
    when a.visibility = 'public' then 'use'
    when a.visibility = 'allowlist' and ${HAS_ROLE('user')} then 'use'
  end`;

const IS_VISIBLE = `a.deleted_at is null and (${LEVEL}) is not null`;

export const INSERT = statement(
  'agents.insert',
  `insert into agents (agent_id, created_by, created_at, name, description, metadata, enabled, visibility,
     version, updated_at, exposed_to_mcp, exposed_to_openai, exposed_to_a2a)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
);

export const INSERT_VERSION = statement(
  'agents.insert_version',
  `insert into agent_versions (${VERSION_INSERT_COLUMNS.join(', ')})
   values (${VERSION_INSERT_COLUMNS.map((_, index) => `$${index + 1}`).join(', ')})`,
);

export const BY_ID = statement(
  'agents.by_id',
  `select ${AGENT_COLUMNS}, ${LEVEL} as level from agents a join agent_versions v using (agent_id, version)
   where a.agent_id = $4 and ${IS_VISIBLE}`,
);

/** For everyone, also without a user. */
export const PUBLIC_CARD = statement(
  'agents.public_card',
  `select agent_id as "agentId", name, description, version from agents
   where agent_id = $1 and exposed_to_a2a = 'public' and deleted_at is null`,
);

/** Always one row, so that the response time does not reveal whether an agent exists. */
export const LEVEL_OF = statement(
  'agents.level',
  `select (select ${LEVEL} from agents a where a.agent_id = $4 and a.deleted_at is null) as level`,
);

export const START_CONDITIONS = statement(
  'agents.standing',
  `select a.version, ${LEVEL} as level, a.enabled, e.enabled and e.deleted_at is null as "environmentEnabled"
   from agents a join agent_versions v using (agent_id, version)
     join environments e on e.environment_id = coalesce(nullif(v.environment_id, ''), '${DEFAULT_ENVIRONMENT}')
   where a.agent_id = $4 and ${IS_VISIBLE}`,
);

/** Waits for concurrent changes of the agent. A following statement reads the current row. */
export const LOCK = statement(
  'agents.lock',
  'select agent_id from agents where agent_id = $1 and deleted_at is null for update',
);

/** A trigger counts the revision. */
export const UPDATE = statement(
  'agents.update',
  `update agents set name = $2, description = $3, metadata = $4, enabled = $5, visibility = $6,
     version = $7, updated_at = $8, exposed_to_mcp = $9, exposed_to_openai = $10, exposed_to_a2a = $11
   where agent_id = $1 returning revision`,
);

export const DELETE = statement(
  'agents.delete',
  'update agents set deleted_at = $2, workspace_to_delete = $3 where agent_id = $1',
);

/** The bounds of the ids of one kind. */
export const startOf = (prefix: string) => `${prefix}_`;
export const endOf = (prefix: string) => `${prefix}~`;

const IN_PAGE = `a.agent_id < $4 and a.agent_id > $9 and a.deleted_at is null
       and ($6 = '' or a.name ilike $5 or a.description ilike $5 or a.agent_id = $6)
       and ($10::jsonb is null or a.metadata @> $10) and ($11::timestamptz is null or a.created_at > $11)
       and ($12::timestamptz is null or a.created_at < $12)
       and ($13::text is null or 'off' <>
         case $13 when 'mcp' then a.exposed_to_mcp when 'openai' then a.exposed_to_openai else a.exposed_to_a2a end)
     order by a.agent_id desc limit $7::integer + 1`;

/** Each reason for visibility has its own index, so that the cost of a list does not depend on the agents of other users. */
const VISIBLE_TO_MEMBER = `
   select * from (select a.* from agents a where a.created_by = $1 and ${IN_PAGE}) mine
   union (select a.* from agents a where a.visibility = 'public' and ${IN_PAGE})
   union (
     select a.* from agent_access x join agents a using (agent_id)
     where x.principal = any ($3::text[]) and (x.role = 'manager' or a.visibility = 'allowlist') and ${IN_PAGE}
   )
   order by agent_id desc limit $7::integer + 1`;

/** An administrator sees all agents, and lists only their own assistants. */
const VISIBLE_TO_ADMINISTRATOR = `select a.* from agents a where $2::boolean and (a.agent_id < 'ast_' or a.created_by = $1) and ${IN_PAGE}`;

/**
 * $4 the last id of the previous page or the upper bound of the kind, $5 the pattern and $6 the text of the search,
 * $7 maximum rows, $8 maximum bytes, $9 the lower bound of the kind, $10 metadata, $11 and $12 times and $13 the
 * protocol as filters or null.
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
     select ${AGENT_COLUMNS}, ${LEVEL} as level, m.candidates
     from measured m join chosen a using (agent_id) join agent_versions v using (agent_id, version)
     where m.place = 1 or (m.place <= $7 and m.bytes <= $8)
     order by a.agent_id desc`,
  );

export const LIST = listOf('agents.list', VISIBLE_TO_MEMBER);
export const LIST_ALL = listOf('agents.list_all', VISIBLE_TO_ADMINISTRATOR);

/** $5 the last version of the previous page or END_OF_VERSIONS, $6 maximum rows, $7 maximum bytes. */
export const VERSIONS = statement(
  'agents.versions',
  `with measured as (
     select v.agent_id, v.version, count(*) over () as candidates, row_number() over newest as place,
       sum(v.bytes) over newest as bytes
     from (
       select v.* from agents a join agent_versions v using (agent_id)
       where a.agent_id = $4 and ${IS_VISIBLE} and v.version < $5
       order by v.version desc limit $6::integer + 1
     ) v
     window newest as (order by v.version desc)
   )
   select ${VERSION_COLUMNS}, m.candidates
   from measured m join agent_versions v using (agent_id, version)
   where m.place = 1 or (m.place <= $6 and m.bytes <= $7)
   order by v.version desc`,
);

/** Not restricted to a viewer; also finds versions of deleted agents. */
export const VERSION = statement(
  'agents.version',
  `select ${VERSION_COLUMNS}, a.name as "agentName" from agent_versions v join agents a using (agent_id)
   where v.agent_id = $1 and v.version = $2`,
);

export const NEWEST_VERSION = statement(
  'agents.runtime',
  `select ${VERSION_COLUMNS}, a.name as "agentName" from agent_versions v join agents a using (agent_id, version)
   where a.agent_id = $1 and a.deleted_at is null`,
);

export const NAMES_BY_ID = statement(
  'agents.names_by_id',
  `select agent_id as "agentId", name from agents a where a.agent_id = any ($4::text[]) and ${IS_VISIBLE}
   order by a.agent_id desc limit 1000`,
);

const MANAGED_BY_VIEWER = `
     select agent_id from agents where created_by = $1
     union select agent_id from agent_access where principal = any ($3::text[]) and role = 'manager'
     union select agent_id from agents where $2::boolean`;

/** $4 and $5 are the bounds of the kind. */
export const MANAGED_IDS = statement(
  'agents.managed_ids',
  `select agent_id as "agentId" from agents a
   where a.agent_id in (${MANAGED_BY_VIEWER}) and a.agent_id > $4 and a.agent_id < $5 and a.deleted_at is null
   order by a.agent_id desc limit 10000`,
);

/** $4 is the pattern; $5 and $6 are the bounds of the kind. */
export const NAMES_BY_NAME = statement(
  'agents.names_by_name',
  `select agent_id as "agentId", name from agents a
   where a.agent_id in (${MANAGED_BY_VIEWER}) and a.name ilike $4 and a.agent_id > $5 and a.agent_id < $6 and a.deleted_at is null
   order by a.agent_id desc limit 1000`,
);

export const ACCESS = statement(
  'agents.access',
  `select access_version as version, coalesce(role, '') as role, coalesce(principal, '') as principal
   from agents left join agent_access using (agent_id) where agent_id = $1 order by role, principal`,
);

export const SHARE = statement(
  'agents.share',
  `update agents set visibility = $2, updated_at = $3, access_version = access_version + 1 where agent_id = $1`,
);

export const CLEAR_ACCESS = statement('agents.clear_access', 'delete from agent_access where agent_id = $1');

/** $2 roles and $3 principals, as parallel arrays. */
export const INSERT_ACCESS = statement(
  'agents.insert_access',
  `insert into agent_access (agent_id, role, principal)
   select $1, role, principal from unnest($2::text[], $3::text[]) as given (role, principal)`,
);
