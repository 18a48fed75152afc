-- Skills, which administrators publish. A version never changes; its files are a workspace of the service files.
create table skills (
  skill_id text collate "C" primary key,
  name text collate "C" not null unique,
  enabled boolean not null,
  -- The number of the newest version.
  newest integer not null,
  revision bigint not null default 1,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table skill_versions (
  skill_id text collate "C" not null references skills on delete cascade,
  -- 1, 2, 3 …
  version integer not null,
  -- Of the paths, modes and contents of the files.
  sha256 text not null,
  description text not null,
  -- {license, compatibility, metadata, allowedTools}
  frontmatter jsonb not null,
  -- [{path, size, sha256, executable}] in the byte order of the paths.
  files jsonb not null,
  file_count integer not null,
  bytes bigint not null,
  -- [{path, message}]
  warnings jsonb not null,
  workspace_id text not null,
  created_by text not null,
  created_at timestamptz not null,
  primary key (skill_id, version)
);
-- Versions are never changed.
revoke update on skill_versions from ahs_agents;

-- Trees of files that no version has: of deleted skills, and of versions that may not have been created. The service files
-- deletes them from `due_at` on.
create table skill_trees_to_delete (
  workspace_id text collate "C" primary key,
  skill_id text not null,
  due_at timestamptz not null
);

-- [{id, name, version, description, workspaceId}]
alter table agent_versions add column skills jsonb not null default '[]';
-- For the check that a deleted skill is unused. Versions without skills are not in the index.
create index agent_versions_of_skills on agent_versions using gin (skills jsonb_path_ops) where skills <> '[]';

alter table skills enable row level security, force row level security;
create policy of_the_service on skills to ahs_agents using (true);
create policy of_everybody on skills for select to ahs_agents_viewer using (true);
-- A user locks the skills that an agent gets, which requires the right to update a column. No update passes.
create policy held_by_everybody on skills for update to ahs_agents_viewer using (true) with check (false);
grant select (skill_id, updated_at) on skills to ahs_agents_viewer;
grant update (updated_at) on skills to ahs_agents_viewer;

alter table skill_versions enable row level security, force row level security;
create policy of_the_service on skill_versions to ahs_agents using (true);
alter table skill_trees_to_delete enable row level security, force row level security;
create policy of_the_service on skill_trees_to_delete to ahs_agents using (true);
