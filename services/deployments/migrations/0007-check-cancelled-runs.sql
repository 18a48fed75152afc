-- The time from which the turn of a cancelled run is looked up. The process that started the run could have been killed after
-- the sessions service had created the turn, and before the start was stored. Null: the run has no such turn.
alter table runs add column check_at timestamptz;
create index runs_to_check on runs (check_at) where check_at is not null;

-- Schedules without a next time, for those that are enabled nevertheless.
create index schedules_without_time on schedules (deployment_id) where next_at is null;
