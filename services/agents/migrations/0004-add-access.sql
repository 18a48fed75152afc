-- Who may do what with an agent besides its owner. A principal is the id of a user, or group: and the name of a group.
create table agent_access (
  agent_id text collate "C" not null references agents,
  -- manager | user
  role text not null,
  principal text collate "C" not null,
  primary key (agent_id, role, principal)
);
create index agent_access_of_principal on agent_access (principal, agent_id desc);

create index agents_public on agents (agent_id desc) where visibility = 'public' and deleted_at is null;
