-- The protocols besides the REST API in which clients find an agent. The columns have no
-- effect for assistants, which no protocol offers.
alter table agents
  -- on | off
  add column exposed_to_mcp text not null default 'on',
  -- on | off
  add column exposed_to_openai text not null default 'on',
  -- off | on | public
  add column exposed_to_a2a text not null default 'off';
