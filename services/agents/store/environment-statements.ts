import { statement } from '../../../lib/db/database.ts';
import { DEFAULT_ENVIRONMENT } from '../domain/environment.ts';

const COLUMNS = `e.environment_id as "environmentId", e.name, v.spec, e.enabled, e.version,
  e.environment_id = '${DEFAULT_ENVIRONMENT}' as "isDefault", e.created_by as "createdBy",
  e.created_at as "createdAt", e.updated_at as "updatedAt"`;

const VERSION_COLUMNS = `v.environment_id as "environmentId", v.version, v.spec, v.enabled,
  v.created_by as "createdBy", v.created_at as "createdAt"`;

/** Inserts nothing when the name is taken. */
export const INSERT_ENVIRONMENT = statement(
  'environments.insert',
  `insert into environments (environment_id, name, enabled, version, created_by, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (name) where deleted_at is null do nothing`,
);

export const INSERT_ENVIRONMENT_VERSION = statement(
  'environments.insert_version',
  `insert into environment_versions (environment_id, version, spec, enabled, created_by, created_at)
   values ($1, $2, $3, $4, $5, $6)`,
);

export const ENVIRONMENT_BY_ID = statement(
  'environments.by_id',
  `select ${COLUMNS} from environments e join environment_versions v using (environment_id, version)
   where e.environment_id = $1 and e.deleted_at is null`,
);

/** Waits for concurrent changes of the environment, but not for agents that start to use it. */
export const LOCK_ENVIRONMENT_FOR_CHANGE = statement(
  'environments.lock',
  'select from environments where environment_id = $1 and deleted_at is null for no key update',
);

/** Waits for agents that start to use the environment, and keeps new ones from starting to use it. */
export const LOCK_ENVIRONMENT_FOR_DELETE = statement(
  'environments.seize',
  'select version from environments where environment_id = $1 and deleted_at is null for update',
);

/** Keeps the environment from being deleted before the transaction ends. */
export const LOCK_ENVIRONMENT_FOR_USE = statement(
  'environments.hold',
  'select from environments where environment_id = $1 and deleted_at is null for key share',
);

export const UPDATE_ENVIRONMENT = statement(
  'environments.update',
  'update environments set enabled = $2, version = $3, updated_at = $4 where environment_id = $1',
);

export const DELETE_ENVIRONMENT = statement(
  'environments.delete',
  'update environments set deleted_at = $2 where environment_id = $1',
);

export const COUNT_USERS = statement(
  'environments.count_users',
  `select count(*) as users from agent_versions v join agents a using (agent_id, version)
   where v.environment_id = $1 and v.environment_id <> '' and a.deleted_at is null`,
);

/** The position of the first page: after every environment id. */
export const END_OF_ENVIRONMENTS = '~';

/** $1 the last id of the previous page or END_OF_ENVIRONMENTS, $2 the pattern and $3 the text of the search, $4 maximum rows, $5 maximum bytes. */
export const LIST_ENVIRONMENTS = statement(
  'environments.list',
  `with chosen as (
     select * from environments e
     where e.deleted_at is null and e.environment_id < $1
       and ($3 = '' or e.name ilike $2 or e.environment_id = $3)
     order by e.environment_id desc limit $4::integer + 1
   ), measured as (
     select e.environment_id, count(*) over () as candidates, row_number() over newest as place,
       sum(octet_length(v.spec::text)) over newest as bytes
     from chosen e join environment_versions v using (environment_id, version)
     window newest as (order by e.environment_id desc)
   )
   select ${COLUMNS}, m.candidates
   from measured m join chosen e using (environment_id)
     join environment_versions v using (environment_id, version)
   where m.place = 1 or (m.place <= $4 and m.bytes <= $5)
   order by e.environment_id desc`,
);

/** $2 the last version of the previous page or END_OF_VERSIONS, $3 maximum rows, $4 maximum bytes. */
export const ENVIRONMENT_VERSIONS = statement(
  'environments.versions',
  `with measured as (
     select v.*, count(*) over () as candidates, row_number() over newest as place,
       sum(octet_length(v.spec::text)) over newest as bytes
     from (
       select v.* from environment_versions v
       where v.environment_id = $1 and v.version < $2
       order by v.version desc limit $3::integer + 1
     ) v
     window newest as (order by v.version desc)
   )
   select ${VERSION_COLUMNS}, v.candidates from measured v
   where v.place = 1 or (v.place <= $3 and v.bytes <= $4)
   order by v.version desc`,
);
