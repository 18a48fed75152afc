-- Who may do what with an agent has versions of its own: it is no part of what the agent is.
alter table agents add column access_version integer not null default 1;
