-- Bytes that a user has sent before the message, tool result or conversation that refers to them.
create table uploads (
  upload_id text collate "C" primary key,
  owner_id text collate "C" not null,
  content_id text collate "C" not null,
  sha256 text collate "C" not null,
  size bigint not null,
  media_type text not null,
  -- Empty for none.
  name text not null,
  created_at timestamptz not null,
  -- A day after the creation or the last use.
  expires_at timestamptz not null
);
create index uploads_of_content on uploads (content_id);
create index uploads_to_expire on uploads (expires_at);

-- The bytes of image and file parts that a session's journal refers to. They belong to the owner of the session.
create table parts (
  session_id text collate "C" not null,
  sha256 text collate "C" not null,
  owner_id text collate "C" not null,
  content_id text collate "C" not null,
  size bigint not null,
  -- Of the first message with these bytes.
  media_type text not null,
  name text not null,
  created_at timestamptz not null,
  primary key (session_id, sha256)
);
create index parts_of_content on parts (content_id);

-- Sessions with rows that were written before the session, which the service sessions may have failed to create. At
-- `check_at` the files service asks whether the session exists.
create table unconfirmed_sessions (
  session_id text collate "C" primary key,
  check_at timestamptz not null
);
create index unconfirmed_sessions_to_check on unconfirmed_sessions (check_at);

alter table uploads enable row level security, force row level security;
create policy of_the_service on uploads to ahs_files using (true);
create policy of_their_owner on uploads for select to ahs_files_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table parts enable row level security, force row level security;
create policy of_the_service on parts to ahs_files using (true);
create policy of_their_owner on parts for select to ahs_files_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

-- Of the service alone.
alter table unconfirmed_sessions enable row level security, force row level security;
create policy of_the_service on unconfirmed_sessions to ahs_files using (true);

grant select on uploads, parts to ahs_files_viewer;
