-- A migration of its own, which locks no table, so that sessions stay writable meanwhile. A session that changes at the same
-- time may get rows of its former metadata. Lists compare the metadata of the session, so that they do not show it.
-- The roles of the service get this right, or lose it to roles of their own, after all migrations.
grant usage on schema sessions to ahs_sessions;
set local role ahs_sessions;
set local row_security = on;
insert into session_metadata (owner_id, archived, term, session_id, agent_id)
select s.owner_id, s.archived_at is not null, hashtextextended(e.key || '=' || e.value, 0), s.session_id, s.agent_id
from sessions s cross join lateral json_each_text(s.metadata) e
where s.deleted_at is null and s.metadata::text <> '{}'
on conflict do nothing;
reset role;
