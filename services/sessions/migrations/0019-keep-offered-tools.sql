-- The SHA-256 of the data of the newest `agent.tools_offered` event; null without one.
alter table heads add column tools_offered_sha256 text;
