-- What is read on behalf of somebody is theirs, whatever a statement asks for. The service itself, which changes
-- workspaces for their owners and for runners alike, and reads for those whom others have allowed to, sees everything.
alter table workspaces enable row level security, force row level security;
create policy of_the_service on workspaces to ahs_files using (true);
create policy of_their_owner on workspaces for select to ahs_files_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table contents enable row level security, force row level security;
create policy of_the_service on contents to ahs_files using (true);
create policy of_their_owner on contents for select to ahs_files_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

-- Whose they are, their workspace knows; those that a fork shows have the same owner. Asked as a value: as a condition,
-- the planner might read all of somebody's workspaces first.
alter table entries enable row level security, force row level security;
create policy of_the_service on entries to ahs_files using (true);
create policy of_their_owner on entries for select to ahs_files_viewer
  using ((select owner_id from workspaces w where w.workspace_id = entries.workspace_id)
    = (select current_setting('ahs.viewer', true)));

alter table changes enable row level security, force row level security;
create policy of_the_service on changes to ahs_files using (true);
create policy of_their_owner on changes for select to ahs_files_viewer
  using ((select owner_id from workspaces w where w.workspace_id = changes.workspace_id)
    = (select current_setting('ahs.viewer', true)));

-- Of the service alone.
alter table versions enable row level security, force row level security;
create policy of_the_service on versions to ahs_files using (true);
alter table deliveries enable row level security, force row level security;
create policy of_the_service on deliveries to ahs_files using (true);
alter table fences enable row level security, force row level security;
create policy of_the_service on fences to ahs_files using (true);
alter table owners enable row level security, force row level security;
create policy of_the_service on owners to ahs_files using (true);
alter table idempotency_keys enable row level security, force row level security;
create policy of_the_service on idempotency_keys to ahs_files using (true);

grant select on workspaces, contents, entries, changes to ahs_files_viewer;
