-- A tree of files in numbered versions. Its row is locked by whoever changes it.
create table workspaces (
  workspace_id text collate "C" primary key,
  owner_id text collate "C" not null,
  -- The newest one.
  version bigint not null default 0,
  -- Older ones are not kept any more; up to which of them rows have been removed.
  oldest_version bigint not null default 0,
  trimmed_version bigint not null default 0,
  -- What it shows where it has no rows of its own: other workspaces, the nearest first, each as of a version.
  parent_ids text[] collate "C" not null default '{}',
  parent_versions bigint[] not null default '{}',
  -- The first of them: its rows of that version are needed as long as this row is there.
  parent_id text collate "C",
  parent_version bigint,
  -- Of which workspace it is a fork, even where it shares no rows with it.
  forked_from text collate "C",
  forked_version bigint,
  -- What is in the newest version.
  files bigint not null default 0,
  directories bigint not null default 0,
  bytes bigint not null default 0,
  -- The number of its newest change, and of the newest one that is not kept any more.
  last_seq bigint not null default 0,
  trimmed_seq bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  -- When nothing of the deleted workspace was left but what others show.
  purged_at timestamptz
) with (fillfactor = 70);
create index workspaces_of_parent on workspaces (parent_id, parent_version) where parent_id is not null;
create index workspaces_to_trim on workspaces (workspace_id) where trimmed_version < oldest_version;
create index workspaces_to_purge on workspaces (deleted_at) where deleted_at is not null and purged_at is null;

-- What stands at a path from one version on, up to but not including another one.
create table entries (
  workspace_id text collate "C" not null,
  path text collate "C" not null,
  -- The directory it is in; empty for the workspace itself.
  directory text collate "C" not null,
  from_version bigint not null,
  -- 2^53 - 1 as long as it stands: the largest number that every part of the service can say.
  to_version bigint not null,
  -- file | directory | symlink, or gone: it hides what a parent shows there.
  kind text not null,
  content_id text collate "C",
  size bigint not null,
  sha256 text not null,
  executable boolean not null,
  target text not null,
  modified_at timestamptz not null,
  primary key (workspace_id, path, to_version)
);
create index entries_in_directory on entries (workspace_id, directory, path, to_version);
create index entries_of_content on entries (content_id) where content_id is not null;
create index entries_closed on entries (workspace_id, to_version, path) where to_version < 9007199254740991;

-- What was in each version that is kept, so that a fork need not count.
create table versions (
  workspace_id text collate "C" not null,
  version bigint not null,
  files bigint not null,
  directories bigint not null,
  bytes bigint not null,
  primary key (workspace_id, version)
);

-- The bytes of files. An owner has the same bytes once; other owners have nothing to do with them.
create table contents (
  content_id text collate "C" primary key,
  owner_id text collate "C" not null,
  sha256 text collate "C" not null,
  size bigint not null,
  -- Where the object store has them.
  object_key text collate "C" not null unique,
  -- A CRC-32 of each MiB.
  checks bytea not null,
  created_at timestamptz not null,
  -- When to look whether any entry needs them.
  check_at timestamptz,
  -- No entry did, when that was looked at.
  doomed_at timestamptz,
  -- None did for a second time: nobody may use them any more, and the object is deleted.
  deleting_at timestamptz,
  -- The object was missing, or held other bytes.
  damaged_at timestamptz,
  scrubbed_at timestamptz not null
);
create unique index contents_of_owner on contents (owner_id, sha256) where deleting_at is null;
create index contents_to_check on contents (check_at) where check_at is not null;
create index contents_to_delete on contents (deleting_at) where deleting_at is not null;
create index contents_to_scrub on contents (scrubbed_at) where deleting_at is null;

-- What has changed, in the order in which it did: what the API shows, and what sessions are told of.
create table changes (
  workspace_id text collate "C" not null,
  seq bigint not null,
  workspace_version bigint not null,
  -- created | modified | deleted
  kind text not null,
  path text collate "C" not null,
  -- As it stands after the change; empty of a deletion.
  entry_kind text not null,
  size bigint not null,
  sha256 text not null,
  executable boolean not null,
  target text not null,
  modified_at timestamptz not null,
  -- Empty for none.
  session_id text collate "C" not null,
  user_id text not null,
  created_at timestamptz not null,
  primary key (workspace_id, seq)
);
create index changes_by_version on changes (workspace_id, workspace_version);
create index changes_by_age on changes (created_at);

-- Sessions that have not been told of all changes yet.
create table deliveries (
  workspace_id text collate "C" not null,
  session_id text collate "C" not null,
  -- Of the changes after this one.
  told_seq bigint not null,
  due_at timestamptz not null,
  attempts integer not null default 0,
  primary key (workspace_id, session_id)
) with (fillfactor = 70);
create index deliveries_due on deliveries (due_at);

-- The highest fence that has been seen of each session's runners: an older one changes nothing any more.
create table fences (
  workspace_id text collate "C" not null,
  session_id text collate "C" not null,
  fence bigint not null,
  primary key (workspace_id, session_id)
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
