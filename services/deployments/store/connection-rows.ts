import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { Connection } from '../domain/channels/connection.ts';

/** Alias of the table: c. */
export const CONNECTION_COLUMNS = `
  c.deployment_id as "deploymentId", c.owner_id as "ownerId", c.provider, c.mode, c.wanted, c.revision, c.state, c.since,
  c.last_error as "lastError", c.holder, c.fence, c.lease_until as "leaseUntil", c.ready_at as "readyAt",
  c.sealed_resume as "sealedResume", c.sealed_credentials as "sealedCredentials", c.remove_until as "removeUntil"`;

const LOCK = statement(
  'channel-connections.lock',
  `select ${CONNECTION_COLUMNS} from connections c where c.deployment_id = $1 for update`,
);

const WRITE = statement(
  'channel-connections.write',
  `insert into connections (deployment_id, owner_id, provider, mode, wanted, revision, state, since, last_error, holder,
     fence, lease_until, ready_at, sealed_resume, sealed_credentials, remove_until)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
   on conflict (deployment_id) do update set provider = $3, mode = $4, wanted = $5, revision = $6, state = $7, since = $8,
     last_error = $9, holder = $10, fence = $11, lease_until = $12, ready_at = $13, sealed_resume = $14,
     sealed_credentials = $15, remove_until = $16`,
);

const DELETE = statement('channel-connections.delete', 'delete from connections where deployment_id = $1');

export async function lockConnection(
  tx: DatabaseSession,
  deploymentId: string,
): Promise<Connection | undefined> {
  const [row] = await tx.rows<Connection>(LOCK, [deploymentId]);
  return row;
}

export async function writeConnection(tx: DatabaseSession, connection: Connection): Promise<void> {
  await tx.change(WRITE, [
    connection.deploymentId,
    connection.ownerId,
    connection.provider,
    connection.mode,
    connection.wanted,
    connection.revision,
    connection.state,
    connection.since,
    connection.lastError,
    connection.holder,
    connection.fence,
    connection.leaseUntil,
    connection.readyAt,
    connection.sealedResume,
    connection.sealedCredentials,
    connection.removeUntil,
  ]);
}

export async function deleteConnection(tx: DatabaseSession, deploymentId: string): Promise<void> {
  await tx.change(DELETE, [deploymentId]);
}
