-- The time at which a replica last took the server for the hourly comparison of its catalogue with the reviewed one.
alter table mcp_servers add column compared_at timestamptz;
