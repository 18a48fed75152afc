-- Changes of sessions that a schedule or a channel uses, for the service that runs these. A row is written with the change
-- and deleted when that service has acted on it. Sessions of webhooks and users write none.
create table signals (
  signal_id bigint generated always as identity primary key,
  -- turn_ended, turn_blocked, turn_queued, turn_resumed, approval_requested, approval_decided, session_deleted
  kind text not null,
  session_id text not null,
  -- The turn as the change left it; null for session_deleted.
  turn_id text,
  turn_status text,
  -- Only of a turn that has ended or waits.
  stop_reason json,
  -- The usage in the form of the public API, only of a turn that has ended.
  usage json,
  error json,
  started_at timestamptz,
  finished_at timestamptz,
  -- Only of approvals.
  approval_id text,
  created_at timestamptz not null,
  -- The end of the lease of the caller that has claimed the row; null before the first claim.
  claimed_until timestamptz
) with (fillfactor = 80);

alter table signals enable row level security, force row level security;
create policy of_the_service on signals to ahs_sessions using (true);

-- Whether changes of the session write signals. In the head, because it can change and is read under its lock.
alter table heads add column has_signals boolean not null default false;

-- The turn was queued while its session wrote signals, so its state can be looked up by its id alone. `stop_reason` is
-- the one of its end, and null for other turns.
alter table turns
  add column has_signals boolean not null default false,
  add column stop_reason json;
-- A repeated run of a schedule must not queue a second turn.
create unique index turns_with_signals on turns (turn_id, session_id) where has_signals;
