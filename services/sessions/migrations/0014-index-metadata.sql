-- The members of the metadata of sessions that are not deleted, for lists that filter by them. A term is a hash of key and
-- value, so that entries are short; lists also compare the metadata of the session. Sessions without metadata, such as those
-- of webhooks, have no rows here.
create table session_metadata (
  owner_id text not null,
  archived boolean not null,
  term bigint not null,
  session_id text not null,
  agent_id text not null,
  primary key (owner_id, archived, term, session_id)
);
create index session_metadata_of_agent on session_metadata (agent_id, archived, term, session_id);
create index session_metadata_of_all on session_metadata (archived, term, session_id);

alter table session_metadata enable row level security, force row level security;
create policy of_the_service on session_metadata to ahs_sessions using (true);
create policy of_their_owner on session_metadata to ahs_sessions_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));
grant select on session_metadata to ahs_sessions_viewer;

-- Triggers, so that instances of the previous release keep the rows up to date, too.
create function index_session_metadata() returns trigger language plpgsql as $$
begin
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
create trigger index_new_metadata after insert on sessions
  for each row when (new.metadata::text <> '{}') execute function index_session_metadata();
create trigger index_changed_metadata after update of metadata, archived_at, deleted_at on sessions
  for each row when (
    old.metadata::text <> new.metadata::text
    or (old.metadata::text <> '{}' and (
      (old.archived_at is null) <> (new.archived_at is null) or (old.deleted_at is null) <> (new.deleted_at is null)
    ))
  ) execute function index_session_metadata();
