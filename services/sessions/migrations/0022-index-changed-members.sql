-- A change of the metadata writes the entries of the members that it changes. Until now it wrote those of all members.
create or replace function index_session_metadata() returns trigger language plpgsql as $$
declare
  changed record;
begin
  if tg_op = 'UPDATE' and new.deleted_at is null and (old.archived_at is null) = (new.archived_at is null) then
    -- One statement for each entry, because the plans of statements with lists are not kept.
    for changed in
      select key, former.value as former, present.value as present
      from json_each_text(old.metadata) former full join json_each_text(new.metadata) present using (key)
      where former.value is distinct from present.value
    loop
      delete from sessions.session_metadata
      where owner_id = old.owner_id and archived = (old.archived_at is not null) and session_id = old.session_id
        and term = hashtextextended(changed.key || '=' || changed.former, 0);
      insert into sessions.session_metadata (owner_id, archived, term, session_id, agent_id)
      select new.owner_id, new.archived_at is not null, hashtextextended(changed.key || '=' || changed.present, 0),
        new.session_id, new.agent_id
      where changed.present is not null
      on conflict do nothing;
    end loop;
    return null;
  end if;
  if tg_op = 'UPDATE' then
    delete from sessions.session_metadata
    where owner_id = old.owner_id and archived = (old.archived_at is not null) and session_id = old.session_id
      and term in (select hashtextextended(key || '=' || value, 0) from json_each_text(old.metadata));
  end if;
  if new.deleted_at is null then
    insert into sessions.session_metadata (owner_id, archived, term, session_id, agent_id)
    select new.owner_id, new.archived_at is not null, hashtextextended(key || '=' || value, 0), new.session_id, new.agent_id
    from json_each_text(new.metadata)
    on conflict do nothing;
  end if;
  return null;
end
$$;
