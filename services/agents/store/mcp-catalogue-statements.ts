import { statement } from '../../../lib/db/database.ts';

export const CATALOGUE = statement(
  'mcp_catalogues.by_server',
  'select body from mcp_catalogues where mcp_server_id = $1 and sha256 = $2',
);

export const CATALOGUE_BY_DIGEST = statement(
  'mcp_catalogues.by_digest',
  'select body from mcp_catalogues where sha256 = $1 limit 1',
);

export const PUT_CATALOGUE = statement(
  'mcp_catalogues.put',
  `insert into mcp_catalogues (mcp_server_id, sha256, body, bytes, protocol_version, seen_first_at, seen_last_at)
   values ($1, $2, $3, $4, $5, $6, $6)
   on conflict (mcp_server_id, sha256) do update set protocol_version = $5, seen_last_at = $6`,
);

/** A server can change its catalogue with each probe. Only reviewed catalogues and the last seen one are kept. */
export const DROP_OTHER_CATALOGUES = statement(
  'mcp_catalogues.drop_others',
  `delete from mcp_catalogues c where c.mcp_server_id = $1 and c.sha256 <> $2
     and not exists (select from mcp_reviews r where r.mcp_server_id = $1 and r.sha256 = c.sha256)`,
);

export const SET_SEEN = statement(
  'mcp_servers.set_seen',
  `update mcp_servers set seen_sha256 = $2, seen_at = $3, seen_problem = '', protocol_version = $4, changed_tools = $5
   where mcp_server_id = $1`,
);

export const SET_SEEN_PROBLEM = statement(
  'mcp_servers.set_seen_problem',
  'update mcp_servers set seen_problem = $2 where mcp_server_id = $1 and deleted_at is null',
);

export const NEWEST_REVIEW = statement(
  'mcp_reviews.newest',
  `select rules, offer_resources as "offerResources" from mcp_reviews where mcp_server_id = $1 and review = $2`,
);

export const INSERT_REVIEW = statement(
  'mcp_reviews.insert',
  `insert into mcp_reviews (mcp_server_id, review, sha256, rules, offer_resources, reviewed_by, reviewed_at)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);

export const SET_REVIEWED = statement(
  'mcp_servers.set_reviewed',
  `update mcp_servers set review = $2, reviewed_sha256 = $3, reviewed_by = $4, reviewed_at = $5, title = $6,
     tool_count = $7, offered_count = $8, offered_bytes = $9, changed_tools = $10, revision = revision + 1,
     updated_at = $5
   where mcp_server_id = $1`,
);
