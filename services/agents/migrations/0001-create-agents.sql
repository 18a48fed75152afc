create table agents (
  agent_id text collate "C" primary key,
  -- The owner: nobody else sees the agent.
  created_by text collate "C" not null,
  name text not null,
  description text not null,
  metadata jsonb not null,
  enabled boolean not null,
  visibility text not null,
  -- The newest of its versions, which is what it runs with.
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create index agents_of_owner on agents (created_by, agent_id desc) where deleted_at is null;

-- What a turn runs with. Sessions are pinned to a version, so it stays when its agent is deleted.
create table agent_versions (
  agent_id text collate "C" not null references agents,
  version integer not null,
  model text not null,
  model_options json not null,
  system text not null,
  environment_id text not null,
  tools jsonb not null,
  max_steps integer not null,
  -- Null: no limit.
  max_tokens integer,
  max_turn_seconds integer,
  -- Of the texts that may be long, so that a page can be cut without reading them.
  bytes integer not null,
  created_by text not null,
  created_at timestamptz not null,
  primary key (agent_id, version)
);
-- A version never changes, whatever the service tries.
revoke update, delete on agent_versions from ahs_agents;

create table idempotency_keys (
  caller text not null,
  key text not null,
  fingerprint bytea not null,
  answer bytea not null,
  created_at timestamptz not null,
  primary key (caller, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
