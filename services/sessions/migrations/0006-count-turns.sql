-- How many turns were queued for an owner on the newest day (UTC) on which any was, as long as there is a quota of them.
create table quotas (
  owner_id text collate "C" primary key,
  day date not null,
  turns bigint not null
) with (fillfactor = 50);

-- The service alone reads and writes it.
alter table quotas enable row level security, force row level security;
create policy of_the_service on quotas to ahs_sessions using (true);
