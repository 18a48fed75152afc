import { createBatcher } from '../../../lib/db/batcher.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { isDuplicate } from '../../../lib/db/failure.ts';
import { refuse } from '../../../lib/errors.ts';
import { type Connection, disconnect } from '../domain/channels/connection.ts';
import type { Deployment } from '../domain/deployments.ts';
import {
  type Channel,
  type ChannelRow,
  channelOf,
  type StoredChannel,
  type StoredChannelRow,
  storedChannelOf,
  USED_BOT,
} from './channel-rows.ts';
import { deleteConnection, lockConnection, writeConnection } from './connection-rows.ts';
import { lockDeployment, replaceDeployment } from './deployments.ts';

export type { Channel, StoredChannel };

const COLUMNS = `
  deployment_id as "deploymentId", provider, config, sealed_credentials as "sealedCredentials", credentials,
  bot_fingerprint as "botFingerprint", identity`;

const INSERT = statement(
  'channels.insert',
  `insert into channels (deployment_id, owner_id, provider, config, sealed_credentials, credentials, bot_fingerprint,
     identity, is_enabled)
   values ($1, $9, $2, $3, $4, $5, $6, $7, $8)`,
);

const UPDATE = statement(
  'channels.update',
  `update channels set provider = $2, config = $3, sealed_credentials = $4, credentials = $5, bot_fingerprint = $6,
     identity = $7, is_enabled = $8
   where deployment_id = $1`,
);

const FIND = statement('channels.by_ids', `select ${COLUMNS} from channels where deployment_id = any($1)`);

const LOCK = statement(
  'channels.lock',
  `select ${COLUMNS} from channels where deployment_id = $1 for update`,
);

const SET_IDENTITY = statement(
  'channels.set_identity',
  'update channels set identity = $2 where deployment_id = $1',
);

const JOINED = `
  d.deployment_id as "deploymentId", d.agent_id as "agentId", d.created_by as "createdBy", d.name, d.status, d.revision,
  ch.provider, ch.config, ch.identity, ch.moved_places as "movedPlaces"`;

const JOINED_BY_IDS = statement(
  'channels.joined_by_ids',
  `select ${JOINED}, ch.sealed_credentials as "sealedCredentials"
   from channels ch join deployments d on d.deployment_id = ch.deployment_id
   where ch.deployment_id = any($1)`,
);

/** A removal uses the credentials that registered the channel. They outlive a change and the channel itself. */
const FOR_WORK = statement(
  'channels.for_work',
  `select ${JOINED},
     case when c.wanted = 'remove' then c.sealed_credentials else ch.sealed_credentials end as "sealedCredentials"
   from channels ch
   join deployments d on d.deployment_id = ch.deployment_id
   left join connections c on c.deployment_id = ch.deployment_id
   where ch.deployment_id = any($1)
   union all
   select c.deployment_id, '', c.owner_id, '', 'disabled', c.revision, c.provider,
     jsonb_build_object('mode', c.mode)::text, null, '{}', c.sealed_credentials
   from connections c
   where c.deployment_id = any($1) and c.wanted = 'remove'
     and not exists (select from channels ch where ch.deployment_id = c.deployment_id)`,
);

export interface ChannelDeployment {
  deployment: Deployment;
  channel: StoredChannel;
}

/** A decided change with that of the connection. */
export interface ChannelChange extends ChannelDeployment {
  connection: (before: Connection | undefined) => Connection | undefined;
}

interface NewChannel extends ChannelDeployment {
  connection: Connection;
}

export type ChannelStore = ReturnType<typeof createChannelStore>;

export function createChannelStore(db: Database) {
  async function joined(query: typeof FOR_WORK, deploymentIds: readonly string[], options?: ReadOptions) {
    if (deploymentIds.length === 0) return [];
    return (await db.rows<ChannelRow>(query, [deploymentIds], options)).map(channelOf);
  }

  // Callbacks with unknown ids use at most two connections, however many arrive.
  const lookups = createBatcher<string, Channel | undefined>({
    name: 'channels.lookups',
    observer: db.observer,
    async run(deploymentIds, options) {
      const found = await joined(JOINED_BY_IDS, deploymentIds, options);
      const byId = new Map(found.map((channel) => [channel.deploymentId, channel]));
      return deploymentIds.map((deploymentId) => byId.get(deploymentId));
    },
    sizeOf: () => 1,
    maxItems: 500,
    maxBytes: 500,
  });

  return {
    /** Writes the channel of a new deployment. Refused with RESOURCE_IN_USE. */
    async insert(tx: DatabaseSession, { deployment, channel, connection }: NewChannel): Promise<void> {
      await refuseUsedBot(tx.change(INSERT, [...valuesOf(deployment, channel), deployment.createdBy]));
      await writeConnection(tx, connection);
    },

    /** Has a channel removed from its product, in the transaction that deletes it. */
    async disconnect(tx: DatabaseSession, deploymentId: string, now: Date): Promise<void> {
      const channel = await lockChannel(tx, deploymentId);
      const before = await lockConnection(tx, deploymentId);
      if (!channel || !before) return;
      const after = disconnect(before, channel.sealedCredentials, now);
      if (after.wanted === 'nothing') await deleteConnection(tx, deploymentId);
      else await writeConnection(tx, after);
    },

    async byIds(deploymentIds: readonly string[], options?: ReadOptions): Promise<StoredChannel[]> {
      if (deploymentIds.length === 0) return [];
      return (await db.rows<StoredChannelRow>(FIND, [deploymentIds], options)).map(storedChannelOf);
    },

    /** An existing channel with the members of its deployment. Concurrent calls share a statement. */
    lookUp: (deploymentId: string, options?: WriteOptions): Promise<Channel | undefined> =>
      lookups.submit(deploymentId, options),

    /** Channels with the members of their deployments, also deleted channels that are to be removed from their products. */
    forWork: (deploymentIds: readonly string[], options?: ReadOptions): Promise<Channel[]> =>
      joined(FOR_WORK, deploymentIds, options),

    /**
     * Changes a channel while its row is locked. Returns undefined for an unknown channel. Throws when the change is refused,
     * also with RESOURCE_IN_USE.
     */
    change(
      deploymentId: string,
      decide: (current: ChannelDeployment) => ChannelChange,
      { trace, viewer }: WriteOptions,
    ): Promise<ChannelDeployment | undefined> {
      return db.transaction(
        async (tx) => {
          const deployment = await lockDeployment(tx, deploymentId);
          const channel = await lockChannel(tx, deploymentId);
          if (!deployment || !channel) return undefined;
          const changed = decide({ deployment, channel });
          await replaceDeployment(tx, changed.deployment);
          await refuseUsedBot(tx.change(UPDATE, valuesOf(changed.deployment, changed.channel)));
          const connection = changed.connection(await lockConnection(tx, deploymentId));
          if (connection) await writeConnection(tx, connection);
          return { deployment: changed.deployment, channel: changed.channel };
        },
        { trace, viewer },
      );
    },
  };
}

/** Locks a channel before its connection, which is the order in all transactions. */
export async function lockChannel(
  tx: DatabaseSession,
  deploymentId: string,
): Promise<StoredChannel | undefined> {
  const [row] = await tx.rows<StoredChannelRow>(LOCK, [deploymentId]);
  return row && storedChannelOf(row);
}

/** `identity` is that of `ChannelIdentity` as JSON. */
export async function setIdentity(
  tx: DatabaseSession,
  deploymentId: string,
  identity: StoredChannel['identity'],
): Promise<void> {
  await tx.change(SET_IDENTITY, [deploymentId, identity && JSON.stringify(identity)]);
}

function valuesOf({ status }: Deployment, channel: StoredChannel): unknown[] {
  const { deploymentId, provider, config, sealedCredentials, credentials, botFingerprint, identity } =
    channel;
  return [
    deploymentId,
    provider,
    JSON.stringify(config),
    sealedCredentials,
    JSON.stringify(credentials),
    botFingerprint,
    identity && JSON.stringify(identity),
    status === 'enabled',
  ];
}

async function refuseUsedBot<Result>(written: Promise<Result>): Promise<Result> {
  try {
    return await written;
  } catch (error) {
    if (!isDuplicate(error, USED_BOT)) throw error;
    throw refuse(
      'RESOURCE_IN_USE',
      'Another enabled channel has the same bot, and both would receive its messages. Disable or delete that channel, or use the token of another bot.',
    );
  }
}
