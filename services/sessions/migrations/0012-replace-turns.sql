-- The turn whose answer this one replaces: later turns do not get the answer of that one.
alter table turns add column replaces_turn_id text;
-- Turns that change what later turns get of the history.
create index turns_changing_history on turns (session_id) where removed or replaces_turn_id is not null;
drop index turns_removed;
