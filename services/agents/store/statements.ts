import { statement } from '../../../lib/db/database.ts';
import { DEFAULT_ENVIRONMENT } from '../domain/environment.ts';

const RUN = `v.model, v.model_options as "modelOptionsJson", v.system, v.environment_id as "environmentId",
  v.tools, v.max_steps as "maxSteps", v.max_tokens as "maxTokens", v.max_turn_seconds as "maxTurnSeconds"`;

const AGENT = `a.agent_id as "agentId", a.created_by as "createdBy", a.name, a.description, a.metadata,
  a.enabled, a.visibility, a.version, a.created_at as "createdAt", a.updated_at as "updatedAt", ${RUN}`;

const VERSION_COLUMNS = `v.agent_id as "agentId", v.version, v.created_by as "createdBy",
  v.created_at as "createdAt", ${RUN}`;

const MINE = `a.created_by = $1 and a.deleted_at is null`;

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
  `select ${AGENT} from agents a join agent_versions v using (agent_id, version)
   where ${MINE} and a.agent_id = $2`,
);

export const STANDING = statement(
  'agents.standing',
  `select a.version, a.enabled, e.enabled and e.deleted_at is null as "environmentEnabled"
   from agents a join agent_versions v using (agent_id, version)
     join environments e on e.environment_id = coalesce(nullif(v.environment_id, ''), '${DEFAULT_ENVIRONMENT}')
   where ${MINE} and a.agent_id = $2`,
);

/** Waits for whoever is changing the agent; what it has become is read by the statement after this one. */
export const LOCK = statement(
  'agents.lock',
  `select a.agent_id from agents a where ${MINE} and a.agent_id = $2 for update`,
);

export const UPDATE = statement(
  'agents.update',
  `update agents set name = $2, description = $3, metadata = $4, enabled = $5, visibility = $6,
     version = $7, updated_at = $8
   where agent_id = $1`,
);

export const DELETE = statement(
  'agents.delete',
  `update agents a set deleted_at = $3, workspace_to_delete = $4 where ${MINE} and a.agent_id = $2`,
);

/** The ids of one kind stand between these two. */
export const startOf = (prefix: string) => `${prefix}_`;
export const endOf = (prefix: string) => `${prefix}~`;

/**
 * $2 the last agent seen or the end of its kind, $3 the pattern and $4 the text searched for, $5 rows and $6 bytes at
 * most, $7 the start of its kind.
 */
export const LIST = statement(
  'agents.list',
  `with chosen as (
     select * from agents a
     where ${MINE} and a.agent_id < $2 and a.agent_id > $7
       and ($4 = '' or a.name ilike $3 or a.description ilike $3 or a.agent_id = $4)
     order by a.agent_id desc limit $5::integer + 1
   ), measured as (
     select a.agent_id, count(*) over () as candidates, row_number() over newest as place,
       sum(v.bytes + octet_length(a.description) + octet_length(a.metadata::text)) over newest as bytes
     from chosen a join agent_versions v using (agent_id, version)
     window newest as (order by a.agent_id desc)
   )
   select ${AGENT}, m.candidates
   from measured m join chosen a using (agent_id) join agent_versions v using (agent_id, version)
   where m.place = 1 or (m.place <= $5 and m.bytes <= $6)
   order by a.agent_id desc`,
);

/** $3 the last version seen or END_OF_VERSIONS, $4 rows and $5 bytes at most. */
export const VERSIONS = statement(
  'agents.versions',
  `with measured as (
     select v.agent_id, v.version, count(*) over () as candidates, row_number() over newest as place,
       sum(v.bytes) over newest as bytes
     from (
       select v.* from agents a join agent_versions v using (agent_id)
       where ${MINE} and a.agent_id = $2 and v.version < $3
       order by v.version desc limit $4::integer + 1
     ) v
     window newest as (order by v.version desc)
   )
   select ${VERSION_COLUMNS}, m.candidates
   from measured m join agent_versions v using (agent_id, version)
   where m.place = 1 or (m.place <= $4 and m.bytes <= $5)
   order by v.version desc`,
);

export const VERSION = statement(
  'agents.version',
  `select ${VERSION_COLUMNS} from agent_versions v join agents a using (agent_id)
   where v.agent_id = $1 and v.version = $2 and ($3::text is null or a.created_by = $3)`,
);

export const RUNTIME = statement(
  'agents.runtime',
  `select ${VERSION_COLUMNS} from agent_versions v join agents a using (agent_id, version)
   where a.agent_id = $1 and a.deleted_at is null and ($2::text is null or a.created_by = $2)`,
);

export const NAMES_BY_ID = statement(
  'agents.names_by_id',
  `select agent_id as "agentId", name from agents a where ${MINE} and a.agent_id = any ($2::text[])
   order by a.agent_id desc limit 1000`,
);

export const NAMES_BY_NAME = statement(
  'agents.names_by_name',
  `select agent_id as "agentId", name from agents a where ${MINE} and a.name ilike $2 and a.agent_id > $3 and a.agent_id < $4
   order by a.agent_id desc limit 1000`,
);
