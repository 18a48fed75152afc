-- The credentials that turns have got, by the host that receives them. The audit log has an entry for each row. Rows are
-- removed after a day.
create table lendings (
  turn_id text collate "C" not null,
  credential_id text collate "C" not null,
  host text not null,
  first_at timestamptz not null,
  primary key (turn_id, credential_id, host)
);
create index lendings_by_age on lendings (first_at);

alter table lendings enable row level security, force row level security;
create policy of_the_service on lendings to ahs_vaults using (true);

create index credentials_by_server on credentials (vault_id, mcp_server_url) where mcp_server_url is not null;
