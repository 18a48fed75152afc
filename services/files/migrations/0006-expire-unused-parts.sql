-- The last time at which a part was stored that no event of the session is known to refer to. Null when one does, and for
-- parts that the previous release has stored.
alter table parts add column unconfirmed_at timestamptz;
create index parts_to_confirm on parts (session_id) where unconfirmed_at is not null;
