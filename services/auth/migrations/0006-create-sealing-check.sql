-- A known text, sealed with the key of the service. It is opened at each start (lib/db/sealing-check.ts).
create table sealing_check (
  one boolean primary key default true check (one),
  sealed_text text not null
);
alter table sealing_check enable row level security, force row level security;
create policy of_the_service on sealing_check to ahs_auth using (true);

-- The start looks for secrets whose key is missing.
create index logins_by_sealing_key on logins (split_part(sealed_id_token, '.', 2));
