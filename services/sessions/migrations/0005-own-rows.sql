-- What is read on behalf of somebody is theirs, whatever a statement asks for. The service itself, which runs the turns
-- of all, and reads for those whom it has allowed to read what is somebody else's, sees everything.
alter table sessions enable row level security, force row level security;
create policy of_the_service on sessions to ahs_sessions using (true);
create policy of_their_owner on sessions to ahs_sessions_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table turns enable row level security, force row level security;
create policy of_the_service on turns to ahs_sessions using (true);
create policy of_their_owner on turns to ahs_sessions_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

-- Whose they are, their session knows. Asked as a value: as a condition, the planner might read all of somebody's
-- sessions first.
alter table heads enable row level security, force row level security;
create policy of_the_service on heads to ahs_sessions using (true);
create policy of_their_owner on heads to ahs_sessions_viewer
  using ((select owner_id from sessions s where s.session_id = heads.session_id)
    = (select current_setting('ahs.viewer', true)));

alter table journal enable row level security, force row level security;
create policy of_the_service on journal to ahs_sessions using (true);
create policy of_their_owner on journal to ahs_sessions_viewer
  using ((select owner_id from sessions s where s.session_id = journal.session_id)
    = (select current_setting('ahs.viewer', true)));

alter table approvals enable row level security, force row level security;
create policy of_the_service on approvals to ahs_sessions using (true);
create policy of_their_owner on approvals to ahs_sessions_viewer
  using ((select owner_id from sessions s where s.session_id = approvals.session_id)
    = (select current_setting('ahs.viewer', true)));

alter table session_environments enable row level security, force row level security;
create policy of_the_service on session_environments to ahs_sessions using (true);
create policy of_their_owner on session_environments to ahs_sessions_viewer
  using ((select owner_id from sessions s where s.session_id = session_environments.session_id)
    = (select current_setting('ahs.viewer', true)));

-- Administrators look at them, and nobody else.
alter table sandboxes enable row level security, force row level security;
create policy of_the_service on sandboxes to ahs_sessions using (true);

-- All changes are decided by the service, for many users in one transaction.
grant select on sessions, turns, heads, journal, approvals, session_environments to ahs_sessions_viewer;
