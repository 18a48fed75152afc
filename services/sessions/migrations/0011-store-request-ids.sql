-- The id of the HTTP request that a deployment accepted (req_…), for its invocation log. Null for other sessions.
alter table sessions add column request_id text;
