-- Assistants are rows of agents whose ids begin with ast_. Their workspaces are kept by another service, which is
-- told when one of them is deleted.
alter table agents add column workspace_to_delete boolean not null default false;
create index agents_with_workspace_to_delete on agents (agent_id) where workspace_to_delete;
