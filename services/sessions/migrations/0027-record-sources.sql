-- How a session was created, and the token of the client that created it, for lists. Null for sessions from before.
alter table sessions add column source text, add column token_id text;
