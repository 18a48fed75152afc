create table environments (
  environment_id text collate "C" primary key,
  name text collate "C" not null,
  enabled boolean not null,
  -- The newest of its versions, which is what it is.
  version integer not null,
  -- Empty: it was there from the beginning.
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
-- The name of one that is deleted may be used anew.
create unique index environments_by_name on environments (name) where deleted_at is null;

create table environment_versions (
  environment_id text collate "C" not null references environments,
  version integer not null,
  spec jsonb not null,
  enabled boolean not null,
  created_by text not null,
  created_at timestamptz not null,
  primary key (environment_id, version)
);
-- A version never changes, whatever the service tries.
revoke update, delete on environment_versions from ahs_agents;

-- The environment of agents that name none: the same one everywhere, older than every other.
insert into environments (environment_id, name, enabled, version, created_by, created_at, updated_at)
values ('env_00000000000000000000000000', 'default', true, 1, '', now(), now());
insert into environment_versions (environment_id, version, spec, enabled, created_by, created_at)
values ('env_00000000000000000000000000', 1, '{
  "sandbox": {"provider": "auto", "image": "", "commandTimeoutSeconds": 120},
  "network": {"mode": "none", "allowedHosts": []},
  "tenancy": "session",
  "idle": {"timeoutSeconds": 900, "action": "suspend"},
  "variables": {}
}', true, '', now());

-- Who names an environment has to be known before it can be deleted.
create index agent_versions_of_environment on agent_versions (environment_id) where environment_id <> '';
