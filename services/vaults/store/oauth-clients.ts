import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import type { ClientAuthentication } from '../domain/oauth.ts';
import type { SealedMembers } from '../oauth/service-secrets.ts';

const COLUMNS = `mcp_server_id as "mcpServerId", issuer, redirect_uri as "redirectUri", client_id as "clientId",
  client_authentication as "clientAuthentication", sealed, key_generation as "keyGeneration",
  secret_expires_at as "secretExpiresAt"`;

const FIND = statement(
  'oauth_clients.find',
  `select ${COLUMNS} from oauth_clients where mcp_server_id = $1 and issuer = $2 and redirect_uri = $3`,
);

const PUT = statement(
  'oauth_clients.put',
  `insert into oauth_clients (mcp_server_id, issuer, redirect_uri, client_id, client_authentication, sealed, key_generation,
     secret_expires_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict (mcp_server_id, issuer, redirect_uri) do update set client_id = excluded.client_id,
     client_authentication = excluded.client_authentication, sealed = excluded.sealed,
     key_generation = excluded.key_generation, secret_expires_at = excluded.secret_expires_at`,
);

const DELETE_OF_SERVER = statement(
  'oauth_clients.delete_of_server',
  'delete from oauth_clients where mcp_server_id = $1',
);

const DELETE_OTHERS = statement(
  'oauth_clients.delete_others',
  'delete from oauth_clients where mcp_server_id = $1 and issuer <> $2',
);

/** Identifies a client. An administrator's client is for one MCP server and every redirect URI. */
export interface OAuthClientKey {
  /** Empty for a client that this service registered. */
  mcpServerId: string;
  issuer: string;
  /** Empty for a client of an administrator. */
  redirectUri: string;
}

/** This service at an issuer, with its sealed secret if it has one. */
export interface StoredOAuthClient extends OAuthClientKey {
  clientId: string;
  clientAuthentication: ClientAuthentication;
  secret: SealedMembers | undefined;
  secretExpiresAt: Date | undefined;
}

type Row = Omit<StoredOAuthClient, 'secret' | 'secretExpiresAt'> & {
  sealed: Buffer | null;
  keyGeneration: number | null;
  secretExpiresAt: Date | null;
};

export type OAuthClientStore = ReturnType<typeof createOAuthClientStore>;

export function createOAuthClientStore(db: Database) {
  return {
    async find(
      { mcpServerId, issuer, redirectUri }: OAuthClientKey,
      options?: ReadOptions,
    ): Promise<StoredOAuthClient | undefined> {
      const [row] = await db.rows<Row>(FIND, [mcpServerId, issuer, redirectUri], options);
      return row && clientFromRow(row);
    },

    /** Replaces the client with the same key. An administrator's client replaces those at other issuers too. */
    async put(client: StoredOAuthClient, now: Date, options?: WriteOptions): Promise<void> {
      const { mcpServerId, issuer, redirectUri, clientId, clientAuthentication, secret, secretExpiresAt } =
        client;
      await db.transaction(async (tx) => {
        if (mcpServerId !== '') await tx.change(DELETE_OTHERS, [mcpServerId, issuer]);
        await tx.change(PUT, [
          ...[mcpServerId, issuer, redirectUri, clientId, clientAuthentication],
          ...[secret?.sealed ?? null, secret?.keyGeneration ?? null, secretExpiresAt ?? null, now],
        ]);
      }, options);
    },

    /** Deletes the client that an administrator registered for a server. */
    async deleteOfServer(mcpServerId: string, options?: WriteOptions): Promise<void> {
      if (mcpServerId !== '') await db.change(DELETE_OF_SERVER, [mcpServerId], options);
    },
  };
}

function clientFromRow({ sealed, keyGeneration, secretExpiresAt, ...client }: Row): StoredOAuthClient {
  const secret = sealed === null || keyGeneration === null ? undefined : { sealed, keyGeneration };
  return { ...client, secret, secretExpiresAt: secretExpiresAt ?? undefined };
}
