-- When each channel worker last asked for work or renewed its leases. Operators see whether one runs.
create table channel_workers (
  worker_id text primary key,
  seen_at timestamptz not null
);
create index channel_workers_by_age on channel_workers (seen_at);

alter table channel_workers enable row level security, force row level security;
create policy of_the_service on channel_workers to ahs_deployments using (true);
