-- Which session a chat of a client goes on in that names no session: by the digest of its messages, or of the id of a
-- response. Rows are deleted after 30 days.
create table chat_prefixes (
  owner_id text not null,
  key bytea not null,
  -- Null after the client has deleted the response.
  session_id text,
  turn_id text,
  -- The request that continues the session itself. Further requests fork the session.
  claimed_by text,
  created_at timestamptz not null,
  primary key (owner_id, key)
);
create index chat_prefixes_by_age on chat_prefixes (created_at);

alter table chat_prefixes enable row level security, force row level security;
create policy of_the_service on chat_prefixes to ahs_sessions using (true);
create policy of_their_owner on chat_prefixes to ahs_sessions_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));
grant select on chat_prefixes to ahs_sessions_viewer;
