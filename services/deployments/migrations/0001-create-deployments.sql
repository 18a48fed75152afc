create table deployments (
  deployment_id text primary key,
  created_by text not null,
  agent_id text not null,
  type text not null,
  status text not null check (status in ('enabled', 'disabled')),
  prompt_prefix text,
  -- The shared secret, readable only with the key it names (lib/sealing.ts).
  sealed_secret text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index deployments_of_owner on deployments (created_by, deployment_id desc);
create index deployments_of_agent on deployments (created_by, agent_id, deployment_id desc);

-- Calls that were refused. Those that were accepted are the sessions they began.
create table refusals (
  deployment_id text not null references deployments on delete cascade,
  invocation_id text not null,
  -- The invocation id; or, of a row that stands for many calls, their minute and reason.
  slot text not null,
  reason text not null,
  count integer not null,
  body_bytes bigint not null,
  source_address text not null,
  created_at timestamptz not null,
  primary key (deployment_id, invocation_id),
  unique (deployment_id, slot)
);

create table idempotency_keys (
  caller text not null,
  key text not null,
  fingerprint bytea not null,
  answer bytea not null,
  created_at timestamptz not null,
  primary key (caller, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
