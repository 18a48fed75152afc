-- Overrides in force for all turns of a session and for one turn, and the structured output of a turn, as JSON text.
-- Null for none.
alter table sessions add column overrides text;
alter table turns add column overrides text, add column output text;
