-- Tool calls that the client or a person answers. The turn's row says which of them are open.
create table client_calls (
  -- The agent.tool_use event.
  event_id text collate "C" primary key,
  session_id text not null,
  turn_id text not null,
  tool_use_id text not null,
  -- tool_result, input
  kind text not null,
  name text not null,
  -- JSON text.
  input text not null,
  -- pending, answered, expired, cancelled
  status text not null default 'pending',
  -- JSON text.
  output text,
  is_error boolean,
  answered_by text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  closed_at timestamptz
);
create index client_calls_of_session on client_calls (session_id, event_id desc);
-- An entry of an index is limited to about 2,700 bytes, and a model can use longer ids.
create index client_calls_by_tool_use on client_calls (session_id, left(tool_use_id, 100), event_id desc);
create index client_calls_pending on client_calls (expires_at) where status = 'pending';

alter table client_calls enable row level security, force row level security;
create policy of_the_service on client_calls to ahs_sessions using (true);
create policy of_their_owner on client_calls to ahs_sessions_viewer
  using ((select owner_id from sessions s where s.session_id = client_calls.session_id)
    = (select current_setting('ahs.viewer', true)));
grant select on client_calls to ahs_sessions_viewer;
