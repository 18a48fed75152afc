-- Counts every change of an agent or assistant. Before this migration, entity tags were versions. A revision starts at the
-- version, so that a tag of an older version matches no later state.
alter table agents add column revision bigint not null default 1;
alter table agents no force row level security;
update agents set revision = version where version > 1;
alter table agents force row level security;

-- A trigger, so that changes by instances of the previous release are counted, too. The visibility is also a part of the
-- access list.
create function count_agent_revision() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  if new.visibility <> old.visibility and new.access_version = old.access_version then
    new.access_version := old.access_version + 1;
  end if;
  return new;
end
$$;
create trigger count_revision before update on agents
  for each row when (old.* is distinct from new.*) execute function count_agent_revision();
