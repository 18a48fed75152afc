-- Queued turns wait until the queue is released.
alter table heads add column queue_held boolean not null default false;

-- How the last finished turn of a session ended, for lists of one state. The row stays while a later turn runs, so a list
-- also compares the state in the head. A table of its own, because an index on a column of the head would cost every
-- change of a session its update in place.
create table session_outcomes (
  session_id text primary key,
  owner_id text not null,
  agent_id text not null,
  -- completed, failed, stopped, limit_reached
  outcome text not null
) with (fillfactor = 80);
create index session_outcomes_of_owner on session_outcomes (owner_id, outcome, session_id desc);
-- Most sessions are completed. Lists of completed sessions of all owners find them among the newest sessions.
create index session_outcomes_of_agent on session_outcomes (agent_id, outcome, session_id desc)
  where outcome <> 'completed';
create index session_outcomes_of_all on session_outcomes (outcome, session_id desc) where outcome <> 'completed';

-- The owner of the tables is subject to their policies unless they are lifted, and a migration may run without superuser.
alter table heads no force row level security;
alter table sessions no force row level security;
insert into session_outcomes (session_id, owner_id, agent_id, outcome)
select session_id, owner_id, agent_id, outcome
from (
  select s.session_id, s.owner_id, s.agent_id,
    case h.stop_reason ->> 'type'
      when 'end_turn' then 'completed'
      when 'failed' then 'failed'
      when 'retries_exhausted' then 'failed'
      when 'refused' then 'failed'
      when 'interrupted' then 'stopped'
      when 'budget_reached' then 'limit_reached'
      when 'max_steps_reached' then 'limit_reached'
    end as outcome
  from heads h join sessions s using (session_id)
  where s.deleted_at is null and h.stop_reason is not null
) ended
where outcome is not null;
alter table heads force row level security;
alter table sessions force row level security;

alter table session_outcomes enable row level security, force row level security;
create policy of_the_service on session_outcomes to ahs_sessions using (true);
create policy of_their_owner on session_outcomes to ahs_sessions_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));
grant select on session_outcomes to ahs_sessions_viewer;
