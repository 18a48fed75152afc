-- compaction: a turn without a message. Null: the turn answers a message.
alter table turns add column kind text;
-- The newest estimate of a model request as a JSON object.
alter table heads add column context json;
