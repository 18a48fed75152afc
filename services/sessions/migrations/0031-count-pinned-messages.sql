-- The bytes of the pinned message of the turn. Null for a message that is not pinned.
alter table turns add column pinned_bytes integer;
create index turns_pinned on turns (session_id) where pinned_bytes is not null;
-- The pinned messages that a fork has copied, and their bytes. They belong to no turn of the fork.
alter table sessions add column copied_pinned_messages integer not null default 0;
alter table sessions add column copied_pinned_bytes integer not null default 0;
