-- What is read and changed on behalf of somebody is what they may see and manage, whatever a statement asks for. The
-- service itself, which answers runners and does what it has allowed to administrators, sees everything.
alter table agents enable row level security, force row level security;
create policy of_the_service on agents to ahs_agents using (true);
create policy of_who_sees_it on agents for select to ahs_agents_viewer
  using (
    created_by = (select current_setting('ahs.viewer', true))
    or visibility = 'public'
    or exists (
      select from agent_access x
      where x.agent_id = agents.agent_id and (x.role = 'manager' or agents.visibility = 'allowlist')
        and x.principal = any ((select current_setting('ahs.names', true))::text[])
    )
  );
create policy of_who_makes_it on agents for insert to ahs_agents_viewer
  with check (created_by = (select current_setting('ahs.viewer', true)));
create policy of_who_manages_it on agents for update to ahs_agents_viewer
  using (
    created_by = (select current_setting('ahs.viewer', true))
    or exists (
      select from agent_access x
      where x.agent_id = agents.agent_id and x.role = 'manager'
        and x.principal = any ((select current_setting('ahs.names', true))::text[])
    )
  );

-- What somebody has been given. All that stands in the access of an agent the service reads and writes, for those who
-- manage it.
alter table agent_access enable row level security, force row level security;
create policy of_the_service on agent_access to ahs_agents using (true);
create policy of_the_named on agent_access for select to ahs_agents_viewer
  using (principal = any ((select current_setting('ahs.names', true))::text[]));

-- The versions of what they see; new ones of what they manage.
alter table agent_versions enable row level security, force row level security;
create policy of_the_service on agent_versions to ahs_agents using (true);
create policy of_who_sees_it on agent_versions for select to ahs_agents_viewer
  using ((select a.agent_id from agents a where a.agent_id = agent_versions.agent_id) is not null);
create policy of_who_manages_it on agent_versions for insert to ahs_agents_viewer
  with check (
    created_by = (select current_setting('ahs.viewer', true))
    and exists (
      select from agents a
      where a.agent_id = agent_versions.agent_id
        and (
          a.created_by = (select current_setting('ahs.viewer', true))
          or exists (
            select from agent_access x
            where x.agent_id = a.agent_id and x.role = 'manager'
              and x.principal = any ((select current_setting('ahs.names', true))::text[])
          )
        )
    )
  );

-- Everybody's. Whoever names one for an agent holds it, which takes the right to change it; no change passes.
alter table environments enable row level security, force row level security;
create policy of_the_service on environments to ahs_agents using (true);
create policy of_everybody on environments for select to ahs_agents_viewer using (true);
create policy held_by_everybody on environments for update to ahs_agents_viewer using (true) with check (false);

alter table idempotency_keys enable row level security, force row level security;
create policy of_the_service on idempotency_keys to ahs_agents using (true);
create policy of_their_caller on idempotency_keys to ahs_agents_viewer
  using (caller = (select current_setting('ahs.viewer', true)));

grant select, insert, update on agents to ahs_agents_viewer;
grant select, insert on agent_versions to ahs_agents_viewer;
grant select on agent_access, environments to ahs_agents_viewer;
grant update (updated_at) on environments to ahs_agents_viewer;
grant select, insert, update on idempotency_keys to ahs_agents_viewer;
