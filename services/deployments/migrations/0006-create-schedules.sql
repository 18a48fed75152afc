-- Schedules have no shared secret. A process of the previous release goes on writing webhooks: it sets the secret, and
-- the new columns have defaults.
alter table deployments alter column sealed_secret drop not null;
alter table deployments
  add column name text not null default '',
  -- A JSON object of texts.
  add column metadata text not null default '{}',
  -- Incremented by each change of a client. 0 for webhooks.
  add column revision integer not null default 0;

create table schedules (
  deployment_id text primary key references deployments on delete cascade,
  -- As deployments.created_by, so that due schedules are read from one table.
  owner_id text not null,
  kind text not null check (kind in ('cron', 'every', 'at')),
  -- The cron expression, the seconds of the interval, or the instant.
  expression text not null,
  timezone text not null,
  start_at timestamptz,
  end_at timestamptz,
  dst_missing text not null,
  dst_repeated text not null,
  jitter_seconds integer not null,
  overlap text not null,
  catch_up_seconds integer not null,
  session_mode text not null,
  -- The session of the mode `continue`. Null: the next run creates one.
  session_id text,
  -- The client chose the session, so no other one replaces it.
  session_is_given boolean not null,
  -- The key of the current prompt in the table prompts.
  prompt_digest bytea not null,
  pause_after_failures integer not null,
  count_failed_turns boolean not null,
  paused_reason text,
  -- Runs in a row that count for the pause.
  failures integer not null default 0,
  -- Runs that were queued so far.
  run_count integer not null default 0,
  -- The scheduled time that is decided next, and when it is due (with jitter). Null: none, or disabled.
  next_at timestamptz,
  due_at timestamptz
);
create index schedules_due on schedules (due_at) where due_at is not null;

-- The prompts of schedules and runs. A run keeps the prompt with which it was queued when the schedule changes.
create table prompts (
  deployment_id text not null references schedules on delete cascade,
  -- SHA-256 of the text.
  digest bytea not null,
  text text not null,
  primary key (deployment_id, digest)
);

create table backfills (
  backfill_id text primary key,
  deployment_id text not null references schedules on delete cascade,
  owner_id text not null,
  from_at timestamptz not null,
  until_at timestamptz not null,
  overlap text not null,
  skip_existing boolean not null,
  count integer not null,
  -- usr_…: the creator of the backfill, possibly a manager of the agent.
  created_by text not null,
  created_at timestamptz not null
);
create index backfills_of_schedule on backfills (deployment_id, backfill_id desc);

create table runs (
  run_id text primary key,
  deployment_id text not null references schedules on delete cascade,
  -- As schedules.owner_id.
  owner_id text not null,
  -- The scheduled time; with the backfill before it; or the run id. A repeated insert of a slot changes nothing.
  slot text not null,
  trigger text not null,
  status text not null,
  reason text,
  scheduled_for timestamptz,
  -- The last time of a missed range.
  scheduled_until timestamptz,
  due_at timestamptz,
  -- The number of scheduled times that the row stands for.
  count integer not null default 1,
  -- The number of the run among those of its schedule. Null: it was never queued.
  number integer,
  prompt_digest bytea,
  -- The run interrupts earlier unfinished runs when it starts.
  cancels_previous boolean not null default false,
  -- Only for queued runs: the time at which the run can be claimed. Null: it waits for an earlier run.
  ready_at timestamptz,
  -- The queued runs of the schedule when the run was queued. Owners are served in this order, so that a schedule with
  -- many queued runs does not delay the other schedules of its owner.
  position integer not null default 0,
  -- The first of the failed attempts to start the run, and their number.
  failing_since timestamptz,
  attempts integer not null default 0,
  session_id text,
  turn_id text,
  -- JSON objects.
  stop_reason text,
  usage text,
  error_code text,
  error_message text,
  replayed_from_run_id text,
  backfill_id text references backfills on delete cascade,
  -- usr_… of a run by hand, a replay or a backfill.
  created_by text,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  lateness_ms bigint,
  -- The trace that queued the run.
  traceparent text,
  unique (deployment_id, slot)
);
create index runs_of_schedule on runs (deployment_id, run_id desc);
create index runs_ready on runs (owner_id, position, ready_at, run_id) where ready_at is not null;
create index runs_by_ready_time on runs (ready_at) where ready_at is not null;
create index runs_unfinished on runs (deployment_id, run_id) where status in ('queued', 'running', 'waiting');
create index runs_started on runs (run_id) where status in ('running', 'waiting');
create index runs_waiting on runs (deployment_id) where status = 'queued' and ready_at is null;
create index runs_of_backfill on runs (backfill_id) where backfill_id is not null;
create index runs_by_time on runs (deployment_id, scheduled_for);
create index runs_of_session on runs (session_id) where status in ('running', 'waiting');

-- The version of the time zone data with which next_at was computed: one row.
create table time_zone_data (
  one boolean primary key default true check (one),
  version text not null
);

-- As in migration 0003: users see their own rows, and the service sees all rows.
alter table schedules enable row level security, force row level security;
create policy of_the_service on schedules to ahs_deployments using (true);
create policy of_their_owner on schedules to ahs_deployments_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table runs enable row level security, force row level security;
create policy of_the_service on runs to ahs_deployments using (true);
create policy of_their_owner on runs to ahs_deployments_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table backfills enable row level security, force row level security;
create policy of_the_service on backfills to ahs_deployments using (true);
create policy of_their_owner on backfills to ahs_deployments_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table prompts enable row level security, force row level security;
create policy of_the_service on prompts to ahs_deployments using (true);
create policy of_their_owner on prompts to ahs_deployments_viewer
  using ((select owner_id from schedules s where s.deployment_id = prompts.deployment_id)
    = (select current_setting('ahs.viewer', true)));

alter table time_zone_data enable row level security, force row level security;
create policy of_the_service on time_zone_data to ahs_deployments using (true);

grant select, insert, update, delete on schedules, runs, backfills, prompts to ahs_deployments_viewer;
