-- The models of a version in the order in which they are tried. Empty: only its model.
alter table agent_versions add column models jsonb not null default '[]';
