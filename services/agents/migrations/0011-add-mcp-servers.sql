-- Remote MCP servers. All users read the columns that an agent's extensions show.
create table mcp_servers (
  mcp_server_id text collate "C" primary key,
  name text collate "C" not null,
  url text not null,
  -- streamable_http | sse
  transport text not null,
  description text not null,
  enabled boolean not null,
  "authorization" text not null,
  timeout_seconds integer not null,
  -- managers | administrators
  available_to text not null,
  trust_annotations boolean not null,
  offer_instructions boolean not null,
  revision bigint not null default 1,
  -- The number of the newest review; 0 without one. The columns up to offered_bytes are copies from that review.
  review integer not null default 0,
  reviewed_sha256 text not null default '',
  reviewed_by text not null default '',
  reviewed_at timestamptz,
  title text not null default '',
  tool_count integer not null default 0,
  offered_count integer not null default 0,
  offered_bytes integer not null default 0,
  -- The last seen catalogue; empty if none was seen.
  seen_sha256 text not null default '',
  seen_at timestamptz,
  -- unreachable | unauthorized: the result of the last probe; empty after a successful one.
  seen_problem text not null default '',
  protocol_version text not null default '',
  -- Reviewed tools whose last seen form differs, and those that vanished.
  changed_tools text[] not null default '{}',
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
-- The name of a deleted server can be used again.
create unique index mcp_servers_by_name on mcp_servers (name) where deleted_at is null;

-- Reviewed catalogues stay, so that the tools of an old turn can be shown.
create table mcp_catalogues (
  mcp_server_id text collate "C" not null references mcp_servers,
  sha256 text collate "C" not null,
  -- Canonical JSON.
  body text not null,
  bytes integer not null,
  protocol_version text not null,
  seen_first_at timestamptz not null,
  seen_last_at timestamptz not null,
  primary key (mcp_server_id, sha256)
);
create index mcp_catalogues_by_digest on mcp_catalogues (sha256);

create table mcp_reviews (
  mcp_server_id text collate "C" not null references mcp_servers,
  -- 1, 2, 3 …
  review integer not null,
  sha256 text not null,
  -- [{name, offered, permission, effect}]
  rules jsonb not null,
  offer_resources boolean not null,
  reviewed_by text not null,
  reviewed_at timestamptz not null,
  primary key (mcp_server_id, review)
);
-- Reviews are never changed.
revoke update, delete on mcp_reviews from ahs_agents;

alter table agent_versions add column mcp_server_ids text[] not null default '{}';
-- For the check that a deleted server is unused. Versions without servers are not in the index.
create index agent_versions_of_mcp_servers on agent_versions using gin (mcp_server_ids) where mcp_server_ids <> '{}';

alter table mcp_servers enable row level security, force row level security;
create policy of_the_service on mcp_servers to ahs_agents using (true);
create policy of_everybody on mcp_servers for select to ahs_agents_viewer using (true);
-- A user locks the servers that an agent gets, which requires the right to update a column. No update passes.
create policy held_by_everybody on mcp_servers for update to ahs_agents_viewer using (true) with check (false);
grant select (mcp_server_id, name, description, enabled, available_to, review, reviewed_sha256, tool_count,
  offered_count, offered_bytes, seen_sha256, updated_at, deleted_at) on mcp_servers to ahs_agents_viewer;
grant update (updated_at) on mcp_servers to ahs_agents_viewer;

alter table mcp_catalogues enable row level security, force row level security;
create policy of_the_service on mcp_catalogues to ahs_agents using (true);
alter table mcp_reviews enable row level security, force row level security;
create policy of_the_service on mcp_reviews to ahs_agents using (true);
