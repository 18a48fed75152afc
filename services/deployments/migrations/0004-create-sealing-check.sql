-- A known text, sealed with the key of the service. It is opened at each start (lib/db/sealing-check.ts).
create table sealing_check (
  one boolean primary key default true check (one),
  sealed_text text not null
);
alter table sealing_check enable row level security, force row level security;
create policy of_the_service on sealing_check to ahs_deployments using (true);

-- The start looks for secrets whose key is missing.
create index deployments_by_sealing_key on deployments (split_part(sealed_secret, '.', 2));
