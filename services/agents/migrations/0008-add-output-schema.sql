-- The JSON Schema of the answer of a turn, and the settings that conversations and messages may override.
alter table agent_versions
  add column output_schema text not null default '',
  add column overridable jsonb not null default '[]';
