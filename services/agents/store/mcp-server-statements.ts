import { statement } from '../../../lib/db/database.ts';

const COLUMNS = `s.mcp_server_id as "mcpServerId", s.name, s.url, s.transport, s.description, s.enabled,
  s."authorization", s.timeout_seconds as "timeoutSeconds", s.available_to as "availableTo",
  s.trust_annotations as "trustAnnotations", s.offer_instructions as "offerInstructions", s.revision, s.review,
  s.reviewed_sha256 as "reviewedSha256", s.reviewed_by as "reviewedBy", s.reviewed_at as "reviewedAt", s.title,
  s.tool_count as "toolCount", s.offered_count as "offeredCount", s.seen_sha256 as "seenSha256",
  s.seen_at as "seenAt", s.seen_problem as "seenProblem", s.protocol_version as "protocolVersion",
  s.oauth, s.created_by as "createdBy", s.created_at as "createdAt", s.updated_at as "updatedAt"`;

/** Inserts nothing when the name is taken. */
export const INSERT_SERVER = statement(
  'mcp_servers.insert',
  `insert into mcp_servers (mcp_server_id, name, url, transport, description, enabled, "authorization",
     timeout_seconds, available_to, trust_annotations, offer_instructions, oauth, created_by, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)
   on conflict (name) where deleted_at is null do nothing`,
);

export const SERVER_BY_ID = statement(
  'mcp_servers.by_id',
  `select ${COLUMNS} from mcp_servers s where s.mcp_server_id = $1 and s.deleted_at is null`,
);

/** Waits for concurrent changes of the server, but not for agents that get it. */
export const LOCK_SERVER_FOR_CHANGE = statement(
  'mcp_servers.lock',
  'select from mcp_servers where mcp_server_id = $1 and deleted_at is null for no key update',
);

/** Waits for agents that get the server, and keeps others from getting it. */
export const LOCK_SERVER_FOR_DELETE = statement(
  'mcp_servers.lock_for_delete',
  'select revision from mcp_servers where mcp_server_id = $1 and deleted_at is null for update',
);

/** The newest versions of agents and assistants that have the server. */
export const COUNT_SERVER_USERS = statement(
  'mcp_servers.count_users',
  `select count(*)::integer as users from agent_versions v join agents a using (agent_id, version)
   where v.mcp_server_ids @> array[$1::text] and v.mcp_server_ids <> '{}' and a.deleted_at is null`,
);

export const DELETE_SERVER = statement(
  'mcp_servers.delete',
  'update mcp_servers set deleted_at = $2 where mcp_server_id = $1',
);

export const UPDATE_SERVER = statement(
  'mcp_servers.update',
  `update mcp_servers set description = $2, enabled = $3, "authorization" = $4, timeout_seconds = $5,
     available_to = $6, trust_annotations = $7, offer_instructions = $8, oauth = $9, revision = $10, updated_at = $11
   where mcp_server_id = $1`,
);

/** $1 the last id of the previous page or END_OF_SERVERS, $2 the pattern and $3 the text of the search, $4 maximum rows. */
export const LIST_SERVERS = statement(
  'mcp_servers.list',
  `with chosen as (
     select * from mcp_servers s
     where s.deleted_at is null and s.mcp_server_id < $1
       and ($3 = '' or s.name ilike $2 or s.title ilike $2 or s.description ilike $2 or s.mcp_server_id = $3)
     order by s.mcp_server_id desc limit $4::integer + 1
   )
   select ${COLUMNS}, (select count(*)::integer from chosen) as candidates from chosen s
   order by s.mcp_server_id desc limit $4`,
);

/** The position of the first page: after every id. */
export const END_OF_SERVERS = '~';

const EXTENSION_COLUMNS = `mcp_server_id as "mcpServerId", name, description, enabled, available_to as "availableTo",
  review, reviewed_sha256 as "reviewedSha256", seen_sha256 as "seenSha256", tool_count as "toolCount",
  offered_count as "offeredCount", offered_bytes as "offeredBytes", deleted_at is not null as "isDeleted",
  coalesce((select r.offer_resources from mcp_reviews r where r.mcp_server_id = mcp_servers.mcp_server_id
    and r.review = mcp_servers.review), false) as "offerResources"`;

/** Keeps the servers from being deleted before the transaction ends. */
export const LOCK_SERVERS_FOR_USE = statement(
  'mcp_servers.lock_for_use',
  `select ${EXTENSION_COLUMNS} from mcp_servers
   where mcp_server_id = any ($1::text[]) and deleted_at is null
   order by mcp_server_id for key share`,
);

/** $1 ids of servers that an agent has; $2 whether to add the other servers that exist, $3 also those for administrators. */
export const EXTENSION_SERVERS = statement(
  'mcp_servers.extensions',
  `select ${EXTENSION_COLUMNS} from mcp_servers
   where mcp_server_id = any ($1::text[])
     or ($2::boolean and deleted_at is null and ($3::boolean or available_to = 'managers'))
   order by name, mcp_server_id limit 1000`,
);

export const SERVER_NAMES = statement(
  'mcp_servers.names',
  'select name from mcp_servers where name = any ($1::text[]) and deleted_at is null',
);

/** The newest review of each server. */
export const LOOK_UP_SERVERS = statement(
  'mcp_servers.look_up',
  `select s.mcp_server_id as "mcpServerId", s.name, s.url, s.transport, s."authorization",
     s.timeout_seconds as "timeoutSeconds", s.enabled, s.trust_annotations as "trustAnnotations",
     s.offer_instructions as "offerInstructions", s.review, s.reviewed_sha256 as "catalogueSha256",
     s.changed_tools as "changedTools", s.protocol_version as "protocolVersion", s.oauth,
     coalesce(r.rules, '[]') as rules, coalesce(r.offer_resources, false) as "offerResources"
   from mcp_servers s left join mcp_reviews r using (mcp_server_id, review)
   where s.mcp_server_id = any ($1::text[]) and s.deleted_at is null
   order by s.name`,
);

export const CONNECTABLE_SERVERS = statement(
  'mcp_servers.connectable',
  `select mcp_server_id as "mcpServerId", name, url, description from mcp_servers
   where deleted_at is null and enabled and "authorization" in ('personal', 'any')
   order by name limit 1000`,
);
