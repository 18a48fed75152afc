-- The id of the HTTP request (req_…), as in its response and in log lines. A row for several requests has the id of the
-- first one. Null for rows of older releases.
alter table refusals add column request_id text;
