-- The vault with the id `service` has the secrets of the service itself: those of OAuth clients and of attempts to connect.
-- It is made at its first use, and no RPC returns it.
alter table vaults drop constraint vaults_kind_check,
  add constraint vaults_kind_check check (kind in ('shared', 'personal', 'service'));

alter table credentials
  -- The MCP server of a connection. Null: an administrator created the credential.
  add column mcp_server_id text collate "C",
  -- The user at the issuer, as its ID token names it. Empty: unknown.
  add column account text not null default '',
  -- The scopes of the access token, as its issuer granted them.
  add column scopes text[] not null default '{}',
  -- The scopes that the server has demanded since, with those above. The next authorization requests them.
  add column wanted_scopes text[] not null default '{}',
  -- How often the server has demanded more scopes since a time, which begins again after a day.
  add column scope_demands integer not null default 0,
  add column scope_demands_since timestamptz,
  add column last_refreshed_at timestamptz,
  -- Set while a replica refreshes the access token. A claim that has passed was left by a replica that ended.
  add column refreshing_until timestamptz,
  -- The failed refreshes since the last success, and the time before which there is no other one.
  add column refresh_failures integer not null default 0,
  add column retry_at timestamptz,
  add column use_in_triggered_sessions boolean not null default false,
  drop constraint credentials_status_check,
  add constraint credentials_status_check check (status in ('active', 'needs_connection', 'refused'));
create unique index connections on credentials (vault_id, mcp_server_id) where mcp_server_id is not null;
grant select (
  mcp_server_id, account, scopes, wanted_scopes, last_refreshed_at, use_in_triggered_sessions
) on credentials to ahs_vaults_viewer;

-- How this service identifies itself at issuers. A secret is sealed in the vault `service`.
create table oauth_clients (
  -- The MCP server for which an administrator registered the client. Empty: this service registered itself.
  mcp_server_id text collate "C" not null,
  issuer text not null,
  -- Empty for a client of an administrator.
  redirect_uri text not null,
  client_id text not null,
  client_authentication text not null,
  sealed bytea,
  key_generation integer,
  -- Null: the secret does not expire.
  secret_expires_at timestamptz,
  created_at timestamptz not null,
  primary key (mcp_server_id, issuer, redirect_uri)
);

-- The authorizations that users have begun. The row is deleted by the answer that ends it.
create table connection_attempts (
  attempt_id text collate "C" primary key,
  user_id text collate "C" not null,
  mcp_server_id text collate "C" not null,
  mcp_server_url text not null,
  state_sha256 bytea not null unique,
  -- Of the random value in a cookie of the browser.
  browser_sha256 bytea not null,
  -- The PKCE verifier and the secret of the client, sealed in the vault `service`.
  sealed bytea not null,
  key_generation integer not null,
  -- The client, the endpoints of the issuer and the redirect URI.
  request jsonb not null,
  return_to text not null,
  expires_at timestamptz not null
);
create index connection_attempts_by_age on connection_attempts (expires_at);
create index connection_attempts_of_user on connection_attempts (user_id, attempt_id desc);

alter table oauth_clients enable row level security, force row level security;
create policy of_the_service on oauth_clients to ahs_vaults using (true);
alter table connection_attempts enable row level security, force row level security;
create policy of_the_service on connection_attempts to ahs_vaults using (true);
