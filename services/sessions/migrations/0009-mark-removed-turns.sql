-- A user removed the turn from the queue. Later turns do not get its message.
alter table turns add column removed boolean not null default false;
create index turns_removed on turns (session_id) where removed;
