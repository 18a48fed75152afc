import { type Database, type ReadOptions, statement } from '../../../lib/db/database.ts';
import type { Target } from '../domain/assignment.ts';
import type { Credential } from '../domain/credential.ts';
import type { LendableCredential as Lendable } from '../domain/lending.ts';
import type { WrappedKey } from '../keys/vault-keys.ts';
import { CREDENTIAL_COLUMNS, type CredentialRow, credentialFromRow } from './credential-rows.ts';

/** The data key, which has no name in common with the columns of a credential. */
const KEY_COLUMNS = `k.generation as "keyGeneration", k.wrapped, k.kek_id as "kekId",
  k.kek_annotations as "kekAnnotations"`;

/** $1 the turn, $2 URLs of MCP servers and $3 their hosts. */
const COLUMNS = `${CREDENTIAL_COLUMNS}, c.sealed, ${KEY_COLUMNS}, c.enabled and v.enabled as "isUsable", exists (
    select from lendings l where l.turn_id = $1 and l.credential_id = c.credential_id and l.host = n.host
  ) as "isRecorded"`;
const SOURCE = `join credentials c on c.vault_id = v.vault_id and c.mcp_server_url = n.url
  join data_keys k on k.vault_id = c.vault_id and k.generation = c.key_generation`;
const NEEDS = 'unnest($2::text[], $3::text[]) as n (url, host)';

/** $4 and $5 the agent or assistant. */
const SHARED = statement(
  'lending.shared',
  `select ${COLUMNS} from ${NEEDS}
   cross join assignments a join vaults v on v.vault_id = a.vault_id and v.kind = 'shared' ${SOURCE}
   where a.target_kind = $4 and a.target_id = $5
   order by a.position, c.credential_id`,
);

/** $4 the owner, $5 ids of the servers, $6 whether only connections for sessions of deployments count. */
const PERSONAL = statement(
  'lending.personal',
  `select ${COLUMNS}, c.mcp_server_id as "mcpServerId"
   from unnest($2::text[], $3::text[], $5::text[]) as n (url, host, mcp_server_id)
   cross join vaults v ${SOURCE} and c.mcp_server_id = n.mcp_server_id
   where v.kind = 'personal' and v.owner_id = $4 and (c.use_in_triggered_sessions or not $6::boolean)
   order by c.credential_id`,
);

/**
 * $2 the indexes of needs, $3 their kinds, $4 their names, $5 the ranks of the names and $6 the hosts that receive the
 * credential. A need for a host has a row for each pattern that matches it. $7 and $8 the agent or assistant.
 */
const NAMED = statement(
  'lending.named',
  `select n.need, ${COLUMNS}
   from unnest($2::int[], $3::text[], $4::text[], $5::int[], $6::text[]) as n (need, kind, name, rank, host)
   cross join assignments a join vaults v on v.vault_id = a.vault_id and v.kind = 'shared'
   join credentials c on c.vault_id = v.vault_id and c.mcp_server_url is null and case n.kind
     when 'host' then c.type <> 'environment_variable' and n.name = any (c.hosts)
     when 'variable' then c.type = 'environment_variable' and c.public ->> 'name' = n.name
     else c.type = 'model_key' and c.public ->> 'provider' = n.name end
   join data_keys k on k.vault_id = c.vault_id and k.generation = c.key_generation
   where a.target_kind = $7 and a.target_id = $8
   order by n.need, a.position, n.rank, c.credential_id`,
);

/** $1 and $2 the agent or assistant. */
const ASSIGNED = statement(
  'lending.assigned',
  `select ${CREDENTIAL_COLUMNS}, ${KEY_COLUMNS}, c.enabled and v.enabled as "isUsable", a.position
   from assignments a join vaults v on v.vault_id = a.vault_id and v.kind = 'shared'
   join credentials c on c.vault_id = v.vault_id and c.mcp_server_url is null
   join data_keys k on k.vault_id = c.vault_id and k.generation = c.key_generation
   where a.target_kind = $1 and a.target_id = $2
   order by a.position, c.credential_id`,
);

/** $1 the largest number of agents. */
const MODEL_KEY_USERS = statement(
  'lending.model_key_users',
  `select a.target_id as "agentId", array_agg(distinct c.public ->> 'provider') as providers
   from assignments a join vaults v on v.vault_id = a.vault_id and v.kind = 'shared' and v.enabled
   join credentials c on c.vault_id = v.vault_id and c.type = 'model_key' and c.enabled
   group by a.target_id order by a.target_id limit $1`,
);

/** The oldest active credential of the assigned shared vaults. */
const ANY_SHARED = statement(
  'lending.any_shared',
  `select ${CREDENTIAL_COLUMNS} from credentials c join vaults v using (vault_id)
   where c.mcp_server_url = $1 and c.enabled and c.status = 'active' and v.enabled and v.kind = 'shared'
     and exists (select from assignments a where a.vault_id = v.vault_id)
   order by c.credential_id limit 1`,
);

/** A credential with its sealed secret. */
export interface StoredLendable extends Credential, Lendable {
  key: WrappedKey;
  sealed: Buffer;
  /** The audit log has an entry for the turn, the credential and the host. */
  isRecorded: boolean;
}

/** A user's credential for one MCP server. */
interface StoredConnection extends StoredLendable {
  mcpServerId: string;
}

/** The user whose connections a session uses. */
interface SessionOwner {
  ownerId: string;
  /** Whether a deployment of the user created the session. Then only connections for such sessions count. */
  isTriggered: boolean;
}

/** An MCP server that a turn calls. */
export interface NeededServer {
  mcpServerId: string;
  url: string;
  host: string;
}

/** A host, variable or model provider that a turn needs a credential for. */
export interface NamedNeed {
  kind: 'host' | 'variable' | 'model';
  /** The names under which credentials serve the need. Those of lower rank count first. */
  names: readonly { text: string; rank: number }[];
  /** The receiver of the credential. */
  host: string;
}

/** A credential for hosts, a variable or a model provider, with the data key of its vault and without its secret. */
export interface StoredAssigned extends Credential, Lendable {
  key: WrappedKey;
  position: number;
}

interface ModelKeyUser {
  agentId: string;
  providers: string[];
}

type KeyRow = CredentialRow & Omit<WrappedKey, 'vaultId' | 'generation'> & { keyGeneration: number };
type Row = KeyRow & Pick<StoredLendable, 'sealed' | 'isUsable' | 'isRecorded'>;
type AssignedRow = KeyRow & Pick<StoredAssigned, 'isUsable' | 'position'>;

export type LendableStore = ReturnType<typeof createLendableStore>;

/** Finds the credentials that a turn can use, in the order in which they count. Nothing is cached. */
export function createLendableStore(db: Database) {
  return {
    /** The credentials of the vaults that are assigned to an agent or assistant. */
    async shared(
      turnId: string,
      { kind, id }: Target,
      servers: readonly NeededServer[],
      options?: ReadOptions,
    ): Promise<StoredLendable[]> {
      const rows = await db.rows<Row>(SHARED, [...valuesOf(turnId, servers), kind, id], options);
      return rows.map(lendableFromRow);
    },

    /** The credentials for each need, in the vaults that are assigned to an agent or assistant. */
    async named(
      turnId: string,
      { kind, id }: Target,
      needs: readonly NamedNeed[],
      options?: ReadOptions,
    ): Promise<StoredLendable[][]> {
      const names = needs.flatMap((need, index) => need.names.map((name) => ({ ...need, ...name, index })));
      const values = [
        names.map(({ index }) => index),
        names.map((name) => name.kind),
        names.map(({ text }) => text),
        names.map(({ rank }) => rank),
        names.map(({ host }) => host),
      ];
      const rows = await db.rows<Row & { need: number }>(NAMED, [turnId, ...values, kind, id], options);
      return needs.map((_, index) =>
        rows.filter(({ need }) => need === index).map(({ need: _need, ...row }) => lendableFromRow(row)),
      );
    },

    /** The credentials for hosts, variables and model providers in the vaults of an agent or assistant. */
    async assigned({ kind, id }: Target, options?: ReadOptions): Promise<StoredAssigned[]> {
      const rows = await db.rows<AssignedRow>(ASSIGNED, [kind, id], options);
      return rows.map(({ isUsable, position, ...row }) => ({ ...fromKeyRow(row), isUsable, position }));
    },

    /** The agents and assistants with enabled model keys, and the providers of these. */
    modelKeyUsers(limit: number, options?: ReadOptions): Promise<ModelKeyUser[]> {
      return db.rows<ModelKeyUser>(MODEL_KEY_USERS, [limit], options);
    },

    /** An active credential of an assigned shared vault. */
    async anyShared(url: string, options?: ReadOptions): Promise<Credential | undefined> {
      const [row] = await db.rows<CredentialRow>(ANY_SHARED, [url], options);
      return row && credentialFromRow(row);
    },

    /** The connections of a user to the servers. */
    async personal(
      turnId: string,
      { ownerId, isTriggered }: SessionOwner,
      servers: readonly NeededServer[],
      options?: ReadOptions,
    ): Promise<StoredConnection[]> {
      const ids = servers.map(({ mcpServerId }) => mcpServerId);
      const values = [...valuesOf(turnId, servers), ownerId, ids, isTriggered];
      const rows = await db.rows<Row & Pick<StoredConnection, 'mcpServerId'>>(PERSONAL, values, options);
      return rows.map(({ mcpServerId, ...row }) => ({ ...lendableFromRow(row), mcpServerId }));
    },
  };
}

function valuesOf(turnId: string, servers: readonly NeededServer[]): unknown[] {
  return [turnId, servers.map(({ url }) => url), servers.map(({ host }) => host)];
}

function lendableFromRow({ sealed, isUsable, isRecorded, ...row }: Row): StoredLendable {
  return { ...fromKeyRow(row), sealed, isUsable, isRecorded };
}

function fromKeyRow(row: KeyRow): Credential & { key: WrappedKey } {
  const { keyGeneration, wrapped, kekId, kekAnnotations, ...credential } = row;
  const { vaultId } = row;
  const key = { vaultId, generation: keyGeneration, wrapped, kekId, kekAnnotations };
  return { ...credentialFromRow(credential), key };
}
