create table vaults (
  vault_id text collate "C" primary key,
  kind text not null check (kind in ('shared', 'personal')),
  -- The user of a personal vault.
  owner_id text check ((kind = 'personal') = (owner_id is not null)),
  -- Empty for a personal vault.
  name text collate "C" not null,
  description text not null,
  enabled boolean not null,
  revision bigint not null default 1,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index shared_vaults_by_name on vaults (name) where kind = 'shared';
create unique index personal_vaults_by_owner on vaults (owner_id) where kind = 'personal';

-- The key of a vault, encrypted by a key-encryption key. A new generation is made by each rotation of the vault.
create table data_keys (
  vault_id text collate "C" not null references vaults on delete cascade,
  generation integer not null check (generation > 0),
  wrapped bytea not null,
  -- local:<id> or kms:<id>
  kek_id text not null,
  kek_annotations jsonb not null default '{}',
  created_at timestamptz not null,
  primary key (vault_id, generation)
);
-- The start looks for data keys whose key-encryption key is missing. A rotation looks for those of former keys.
create index data_keys_by_kek on data_keys (kek_id, vault_id, generation);

create table credentials (
  credential_id text collate "C" primary key,
  vault_id text collate "C" not null references vaults on delete cascade,
  type text not null,
  label text not null,
  enabled boolean not null,
  mcp_server_url text,
  hosts text[] not null,
  -- The public members of the type.
  public jsonb not null,
  -- A JSON object with the secret members, encrypted by the data key of the generation `key_generation`.
  sealed bytea not null,
  key_generation integer not null,
  -- Grows with each change of the secret.
  generation integer not null default 1,
  fingerprint text not null,
  last_four text not null,
  status text not null check (status in ('active', 'refused')),
  status_reason text not null default '',
  expires_at timestamptz,
  last_used_at timestamptz,
  revision bigint not null default 1,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (vault_id, key_generation) references data_keys
);
create index credentials_of_vault on credentials (vault_id, credential_id desc);
create index credentials_by_data_key on credentials (vault_id, key_generation);

-- One row for each agent or assistant whose vaults were ever set. Writers of its assignments lock it.
create table assignment_lists (
  target_kind text not null check (target_kind in ('agent', 'assistant')),
  target_id text collate "C" not null,
  revision bigint not null,
  -- Set when the agent or assistant was deleted. Later assignments are refused.
  deleted_at timestamptz,
  primary key (target_kind, target_id)
);
create index deleted_assignment_lists on assignment_lists (deleted_at) where deleted_at is not null;

create table assignments (
  target_kind text not null,
  target_id text collate "C" not null,
  -- The order in which the credentials count.
  position integer not null,
  vault_id text collate "C" not null references vaults,
  primary key (target_kind, target_id, position),
  unique (target_kind, target_id, vault_id),
  foreign key (target_kind, target_id) references assignment_lists on delete cascade
);
create index assignments_of_vault on assignments (vault_id);

create table rotations (
  rotation_id text collate "C" primary key,
  -- The vault whose credentials get a new data key. Empty: the data keys of all vaults are wrapped again. No reference: the
  -- rotation stays when the vault is deleted.
  vault_id text collate "C" not null,
  status text not null check (status in ('running', 'done', 'failed')),
  done bigint not null default 0,
  total bigint not null,
  -- Data keys or credentials of the current pass that could not be opened.
  failed bigint not null default 0,
  -- The key-encryption keys of the data keys at the start, separated by commas, and the one that wraps now. Empty for a
  -- rotation of one vault.
  from_kek text not null,
  to_kek text not null,
  -- The generation of the new data key of a rotation of one vault, as soon as it exists.
  to_generation integer,
  -- The last processed data key, as vault and generation separated by a space, or credential. Empty at the start of a pass.
  cursor text collate "C" not null default '',
  -- The replica that works on the rotation, and the last time at which it did.
  worker text not null,
  heartbeat_at timestamptz not null,
  started_by text not null,
  started_at timestamptz not null,
  finished_at timestamptz
);
-- One rotation runs at a time.
create unique index running_rotation on rotations (status) where status = 'running';

create table idempotency_keys (
  caller text not null,
  key text not null,
  -- An HMAC with a key that the database does not contain, because the digest of a short secret can be guessed.
  fingerprint bytea not null,
  answer bytea not null,
  created_at timestamptz not null,
  primary key (caller, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Statements on behalf of a user see the personal vault of that user and its credentials, without any key or secret.
-- Handlers that have checked the rights of administrators use the role of the service.
alter table vaults enable row level security, force row level security;
create policy of_the_service on vaults to ahs_vaults using (true);
create policy of_its_owner on vaults for select to ahs_vaults_viewer
  using (kind = 'personal' and owner_id = (select current_setting('ahs.viewer', true)));

alter table credentials enable row level security, force row level security;
create policy of_the_service on credentials to ahs_vaults using (true);
create policy of_the_owner_of_its_vault on credentials for select to ahs_vaults_viewer
  using (exists (
    select from vaults v
    where v.vault_id = credentials.vault_id and v.kind = 'personal'
      and v.owner_id = (select current_setting('ahs.viewer', true))
  ));

alter table data_keys enable row level security, force row level security;
create policy of_the_service on data_keys to ahs_vaults using (true);
alter table assignment_lists enable row level security, force row level security;
create policy of_the_service on assignment_lists to ahs_vaults using (true);
alter table assignments enable row level security, force row level security;
create policy of_the_service on assignments to ahs_vaults using (true);
alter table rotations enable row level security, force row level security;
create policy of_the_service on rotations to ahs_vaults using (true);
alter table idempotency_keys enable row level security, force row level security;
create policy of_the_service on idempotency_keys to ahs_vaults using (true);

grant select on vaults to ahs_vaults_viewer;
grant select (
  credential_id, vault_id, type, label, enabled, mcp_server_url, hosts, public, generation, fingerprint, last_four, status,
  status_reason, expires_at, last_used_at, revision, created_by, created_at, updated_at
) on credentials to ahs_vaults_viewer;
