import { statement } from '../../../lib/db/database.ts';
import { CREDENTIAL_COLUMNS } from './credential-rows.ts';
import { KEY_COLUMNS } from './data-keys.ts';

const COLUMNS = `${CREDENTIAL_COLUMNS}, c.mcp_server_id as "mcpServerId", c.account,
  c.use_in_triggered_sessions as "useInTriggeredSessions", c.wanted_scopes as "wantedScopes"`;
const OF_OWNER = `from credentials c join vaults v using (vault_id)
  where v.kind = 'personal' and v.owner_id = $1 and c.mcp_server_id is not null`;

export const LIST = statement(
  'connections.list',
  `select ${COLUMNS} ${OF_OWNER} order by c.credential_id desc`,
);

export const BY_ID = statement('connections.by_id', `select ${COLUMNS} ${OF_OWNER} and c.credential_id = $2`);

export const BY_SERVER = statement(
  'connections.by_server',
  `select ${COLUMNS} ${OF_OWNER} and c.mcp_server_id = $2`,
);

export const VAULT_OF = statement(
  'connections.vault_of',
  `select vault_id as "vaultId" from vaults where kind = 'personal' and owner_id = $1`,
);

export const ADD_VAULT = statement(
  'connections.add_vault',
  `insert into vaults (vault_id, kind, owner_id, name, description, enabled, created_by, created_at, updated_at)
   values ($1, 'personal', $2, '', '', true, $2, $3, $3) on conflict (owner_id) where kind = 'personal' do nothing`,
);

export const COUNT = statement(
  'connections.count',
  'select count(*)::integer as credentials from credentials where vault_id = $1',
);

export const LOCK = statement(
  'connections.lock',
  `select c.credential_id as "credentialId", c.generation from credentials c
   where c.vault_id = $1 and c.mcp_server_id = $2 for update`,
);

export const LOCK_VAULT = statement(
  'connections.lock_vault',
  'select vault_id from vaults where vault_id = $1 for no key update',
);

export const INSERT = statement(
  'connections.insert',
  `insert into credentials (credential_id, vault_id, type, label, enabled, mcp_server_url, hosts, public, sealed,
     key_generation, generation, fingerprint, last_four, status, expires_at, mcp_server_id, account, scopes,
     last_refreshed_at, created_by, created_at, updated_at)
   values ($1, $2, $3, $4, true, $5, '{}', $6, $7, $8, $9, $10, $11, 'active', $12, $13, $14, $15, $16, $17, $18, $18)`,
);

/** A new authorization ends every state of the earlier one, but not the user's consent or an administrator's choice. */
export const REPLACE = statement(
  'connections.replace',
  `update credentials set type = $2, public = $3, sealed = $4, key_generation = $5, generation = $6, fingerprint = $7,
     last_four = $8, status = 'active', status_reason = '', expires_at = $9, account = $10, scopes = $11,
     wanted_scopes = '{}', last_refreshed_at = $12, refreshing_until = null, refresh_failures = 0, retry_at = null,
     revision = revision + 1, updated_at = $13
   where credential_id = $1`,
);

export const SET_TRIGGERED = statement(
  'connections.set_triggered',
  `update credentials set use_in_triggered_sessions = $2, revision = revision + 1, updated_at = $3
   where credential_id = $1 and use_in_triggered_sessions <> $2`,
);

export const SEALED = statement(
  'connections.sealed',
  `select ${KEY_COLUMNS}, c.generation as "secretGeneration", c.sealed
   from credentials c join data_keys k on k.vault_id = c.vault_id and k.generation = c.key_generation
   where c.credential_id = $1`,
);

export const DELETE = statement('connections.delete', 'delete from credentials where credential_id = $1');
export const LOCK_BY_ID = statement(
  'connections.lock_by_id',
  'select credential_id from credentials where credential_id = $1 for update',
);
