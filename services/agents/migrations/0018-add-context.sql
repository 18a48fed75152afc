-- How long histories are shortened for the model: a JSON object with the members that the agent sets.
alter table agent_versions add column context jsonb not null default '{}';
