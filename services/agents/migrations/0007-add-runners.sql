-- Runners report their sandbox providers. Environments are checked against them when they are written.
create table runners (
  runner_id text collate "C" primary key,
  providers jsonb not null,
  backends jsonb not null,
  reported_at timestamptz not null
);
