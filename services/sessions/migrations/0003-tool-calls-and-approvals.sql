-- Tool calls of the turn that have no result yet, as a JSON array; null for none.
alter table turns add column calls json;
-- The seq before the report in which the current model step began; null before the first one.
alter table turns add column step_after bigint;
-- The attempt in which the turn last got on: starts after it without any progress are counted from here.
alter table turns add column settled_attempt integer not null default 0;

-- What is not finished, by owner: lists of what runs, waits or needs somebody, and the queue of a session. It does
-- not grow with what has ended.
create index turns_unfinished on turns (owner_id, session_id desc, position) where finished_at is null;
-- Queued behind another turn.
create index turns_behind on turns (session_id, position)
  where status = 'queued' and not ready and wake_at is null;

-- Lists show what is archived, or what is not: neither grows with the other.
drop index sessions_of_owner;
create index sessions_of_owner on sessions (owner_id, session_id desc)
  where deleted_at is null and archived_at is null;
create index sessions_archived on sessions (owner_id, session_id desc)
  where deleted_at is null and archived_at is not null;

-- What a model is told: messages and what tools gave.
drop index journal_messages;
create index journal_history on journal (session_id, last_seq)
  where types && array['user.message', 'agent.message', 'agent.tool_result'];

-- Questions that turns wait for. The turn's row says which of them are open; this is what people see and decide.
create table approvals (
  approval_id text primary key,
  session_id text not null,
  turn_id text not null,
  -- tool, outcome_unknown
  kind text not null,
  tool_use_id text not null,
  tool_name text not null,
  -- JSON text, kept as it came: its digest is what is approved.
  input text not null,
  input_sha256 text not null,
  requested_by text not null,
  -- pending, decided, expired, cancelled
  status text not null default 'pending',
  decision text,
  reason text,
  edited_input text,
  -- Of the input that was decided on, edited or not.
  decided_sha256 text,
  decided_by text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz
);
create index approvals_of_session on approvals (session_id, approval_id desc);
create index approvals_pending on approvals (expires_at) where status = 'pending';
