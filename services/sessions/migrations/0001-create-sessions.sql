-- What does not change, or seldom: written once, read by lists.
create table sessions (
  session_id text primary key,
  owner_id text not null,
  agent_id text not null,
  agent_version integer not null,
  deployment_id text,
  title text,
  metadata json not null default '{}',
  -- Of the call that a deployment accepted: bytes of its body, and where it came from.
  body_bytes bigint,
  source_address text,
  created_at timestamptz not null,
  archived_at timestamptz,
  deleted_at timestamptz,
  -- When the content of the deleted session was erased. The row of a deployment's session stays, as
  -- the record of an accepted call.
  purged_at timestamptz
);
create index sessions_of_owner on sessions (owner_id, session_id desc) where deleted_at is null;
create index sessions_of_agent on sessions (agent_id, session_id desc) where deleted_at is null;
create index sessions_of_deployment on sessions (deployment_id, session_id desc) where deployment_id is not null;
create index sessions_to_purge on sessions (deleted_at) where deleted_at is not null and purged_at is null;

-- What changes with every event: narrow rows with free space beside them, and no index but the key,
-- so that an update stays on its page. Its row lock is what orders everything about a session.
create table heads (
  session_id text primary key,
  last_seq bigint not null,
  status text not null,
  stop_reason json,
  current_turn_id text,
  queued_turns integer not null default 0,
  -- Grows with every lease; what an older one reports is refused.
  fence bigint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  steps bigint not null default 0,
  tool_calls bigint not null default 0,
  active_ms bigint not null default 0,
  updated_at timestamptz not null
) with (fillfactor = 60);

-- What happened. A row holds the events of one append, as the JSON texts that every reader gets:
-- an array with a line break between its members and nowhere else.
create table journal (
  session_id text not null,
  first_seq bigint not null,
  last_seq bigint not null,
  types text[] not null,
  -- Length of `events` in bytes, so that a page can be cut without reading it.
  bytes integer not null,
  events json not null,
  primary key (session_id, last_seq)
);
create index journal_messages on journal (session_id, last_seq)
  where types && array['user.message', 'agent.message'];

-- The turn is the job: what is queued, who works on it and until when. There is no second list.
create table turns (
  session_id text not null,
  -- The seq of the event that queued it.
  position bigint not null,
  turn_id text not null,
  owner_id text not null,
  agent_id text not null,
  agent_version integer not null,
  -- 0 a person waits for it, 1 a trigger started it.
  priority smallint not null,
  status text not null,
  -- The first in its session's queue, and not asleep: a runner may take it.
  ready boolean not null,
  -- Asleep until then, after a failure.
  wake_at timestamptz,
  attempt integer not null default 0,
  -- Failures that were worth another try.
  failures integer not null default 0,
  fence bigint not null default 0,
  -- The newest report that was appended, so that a repeated one is known.
  report_seq integer not null default 0,
  runner_id text,
  lease_until timestamptz,
  open_message_id text,
  traceparent text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  steps bigint not null default 0,
  tool_calls bigint not null default 0,
  active_ms bigint not null default 0,
  error json,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  primary key (session_id, position)
) with (fillfactor = 80);
create unique index turns_one_at_a_time on turns (session_id) where status in ('in_progress', 'blocked');
create index turns_ready on turns (priority, turn_id) where ready;
create index turns_leased on turns (lease_until) where status = 'in_progress';
create index turns_asleep on turns (wake_at) where wake_at is not null;

create table idempotency_keys (
  caller text not null,
  key text not null,
  fingerprint bytea not null,
  answer bytea not null,
  created_at timestamptz not null,
  primary key (caller, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
