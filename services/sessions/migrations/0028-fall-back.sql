-- The model of the agent's list with which a turn continues after the retries of another one.
alter table turns add column fallback_model text;
