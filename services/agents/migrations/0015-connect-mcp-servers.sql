-- The settings for OAuth connections: client id, scopes, issuer, and whether the vaults service has the secret of the
-- client. Null: no settings.
alter table mcp_servers add column oauth jsonb;
