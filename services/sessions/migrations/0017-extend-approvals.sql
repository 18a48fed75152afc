-- Approvals of the kinds authorization and input.
alter table approvals
  -- JSON text of the server and what it needs, as it is shown. Not jsonb, which cannot hold every text of a server.
  add column details json,
  -- Only of kind authorization: the user and the server whose credential is missing.
  add column owner_id text,
  add column mcp_server_id text,
  -- JSON text of the content of an accepted form.
  add column content text,
  -- What the tool needs to continue the call, sealed.
  add column state bytea;
create index approvals_authorizations on approvals (mcp_server_id, owner_id, approval_id)
  where status = 'pending' and kind = 'authorization';

-- Users read everything but the state.
revoke select on approvals from ahs_sessions_viewer;
grant select (
  approval_id, session_id, turn_id, kind, tool_use_id, tool_name, input, input_sha256, requested_by, status, decision,
  reason, edited_input, decided_sha256, decided_by, created_at, expires_at, decided_at, details, owner_id,
  mcp_server_id, content
) on approvals to ahs_sessions_viewer;
