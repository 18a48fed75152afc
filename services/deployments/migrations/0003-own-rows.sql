-- What is read and changed on behalf of somebody is theirs, whatever a statement asks for. The service itself, which
-- serves calls of webhooks, and those whom it has allowed to reach what is somebody else's, sees everything.
alter table deployments enable row level security, force row level security;
create policy of_the_service on deployments to ahs_deployments using (true);
create policy of_their_maker on deployments to ahs_deployments_viewer
  using (created_by = (select current_setting('ahs.viewer', true)));

alter table refusals enable row level security, force row level security;
create policy of_the_service on refusals to ahs_deployments using (true);
create policy of_their_maker on refusals to ahs_deployments_viewer
  using ((select created_by from deployments d where d.deployment_id = refusals.deployment_id)
    = (select current_setting('ahs.viewer', true)));

alter table idempotency_keys enable row level security, force row level security;
create policy of_the_service on idempotency_keys to ahs_deployments using (true);
create policy of_their_caller on idempotency_keys to ahs_deployments_viewer
  using (caller = (select current_setting('ahs.viewer', true)));

grant select, insert, update, delete on deployments to ahs_deployments_viewer;
grant select on refusals to ahs_deployments_viewer;
grant select, insert, update, delete on idempotency_keys to ahs_deployments_viewer;
