-- The turn that the message of this turn steers. Once the message is delivered, the turn that it was delivered into.
alter table turns add column steers_turn_id text;
-- The seq of the `user.message_delivered` event. Null while the message is not delivered.
alter table turns add column delivered_seq bigint;
-- Turns that change what later turns get of the history.
create index turns_altering_history on turns (session_id)
  where removed or replaces_turn_id is not null or delivered_seq is not null;
drop index turns_changing_history;
