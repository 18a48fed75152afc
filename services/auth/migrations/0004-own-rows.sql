-- What is read and changed on behalf of somebody is theirs, whatever a statement asks for. The service itself, which
-- finds out who somebody is, sees everything.
alter table tokens enable row level security, force row level security;
create policy of_the_service on tokens to ahs_auth using (true);
create policy of_their_holder on tokens to ahs_auth_viewer
  using (user_id = (select current_setting('ahs.viewer', true)));

-- Found by what a browser shows, and by nobody on behalf of anybody.
alter table logins enable row level security, force row level security;
create policy of_the_service on logins to ahs_auth using (true);

alter table idempotency_keys enable row level security, force row level security;
create policy of_the_service on idempotency_keys to ahs_auth using (true);
create policy of_their_caller on idempotency_keys to ahs_auth_viewer
  using (caller = (select current_setting('ahs.viewer', true)));

grant select, insert, delete on tokens to ahs_auth_viewer;
grant select, insert, update on idempotency_keys to ahs_auth_viewer;
