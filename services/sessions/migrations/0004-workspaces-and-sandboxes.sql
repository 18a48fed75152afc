-- Where the commands of a session run, and how far its journal tells of its files. Sessions that have neither have
-- no row here.
create table session_environments (
  session_id text primary key,
  -- none, provisioning, ready, suspended, restoring, lost, released
  status text not null default 'none',
  sandbox_id text,
  provider text,
  -- The newest change of its workspace that is in the journal.
  files_seq bigint not null default 0
) with (fillfactor = 70);
create index environments_of_sandbox on session_environments (sandbox_id) where sandbox_id is not null;

-- Sandboxes, as their runners report them.
create table sandboxes (
  sandbox_id text primary key,
  provider text not null,
  -- kernel, simulation
  isolation text not null,
  status text not null,
  reason text not null default '',
  -- session, agent, assistant
  tenancy text not null,
  tenant_id text not null,
  owner_id text not null,
  runner_id text not null,
  environment_id text not null,
  environment_version integer not null,
  limits json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When its runner last spoke of it.
  seen_at timestamptz not null,
  -- It is to end, and why; null as long as nobody wants that.
  end_reason text,
  ended_at timestamptz
) with (fillfactor = 70);
create index sandboxes_of_tenant on sandboxes (tenant_id) where ended_at is null;
create index sandboxes_of_runner on sandboxes (runner_id) where ended_at is null;
create index sandboxes_unseen on sandboxes (seen_at) where ended_at is null;
create index sandboxes_ended on sandboxes (ended_at) where ended_at is not null;

-- What a fork takes over beside the history.
create index journal_files on journal (session_id, last_seq)
  where types && array['file.created', 'file.modified', 'file.deleted'];
