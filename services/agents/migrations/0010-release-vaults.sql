-- The service vaults is told when an agent or assistant is deleted, because no vault is assigned to it any longer.
alter table agents add column assignments_to_delete boolean not null default false;
create index agents_with_assignments_to_delete on agents (agent_id) where assignments_to_delete;

-- A trigger, so that deletions by instances of the previous release are reported, too.
create function mark_assignments_to_delete() returns trigger language plpgsql as $$
begin
  new.assignments_to_delete := true;
  return new;
end
$$;
create trigger delete_assignments before update on agents
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function mark_assignments_to_delete();
