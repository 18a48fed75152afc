-- Picks visit owners, and agents within an owner, in turn. They skip from one to the next in this index, so that their
-- cost does not grow with the ready turns of one owner or agent. It replaces the index by age and has the same name; a
-- pick of the previous release sorts the ready turns.
drop index turns_ready;
create index turns_ready on turns (priority, owner_id, agent_id, turn_id) where ready;
-- The turns in progress of one agent, counted up to the agent's limit.
create index turns_running on turns (agent_id) where status = 'in_progress';
