import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import type { ChannelIdentity } from '../domain/channels/channel.ts';
import type { Connection } from '../domain/channels/connection.ts';
import { lockChannel, setIdentity } from './channels.ts';
import { CONNECTION_COLUMNS, deleteConnection, lockConnection, writeConnection } from './connection-rows.ts';
import { COUNTED_PREFIX } from './counted-deliveries.ts';

/** A connection with the time of the last event that was not refused. */
export interface ObservedConnection extends Connection {
  lastEventAt: Date | null;
}

export interface ConnectionCount {
  provider: string;
  state: string;
  count: number;
}

/** Events of webhooks do not change the connection, so their time is that of the last delivery. */
const OBSERVED = statement(
  'channel-connections.observed',
  `select ${CONNECTION_COLUMNS}, greatest(c.last_event_at, (
     select created_at from deliveries e where e.deployment_id = c.deployment_id and e.result <> 'refused'
     order by e.delivery_id desc limit 1)) as "lastEventAt"
   from connections c where c.deployment_id = any($1)`,
);

const DUE_REMOVALS = statement(
  'channel-connections.due_removals',
  `select deployment_id as "deploymentId" from connections
   where ready_at is not null and wanted = 'remove' and remove_until <= $1 limit 100`,
);

const NOTE_EVENTS = statement(
  'channel-connections.note_events',
  `update connections set last_event_at = coalesce($3, last_event_at), sealed_resume = coalesce($4, sealed_resume)
   where deployment_id = $1 and fence = $2 and wanted = 'connect'`,
);

/** Rows that are counted stand for events that were not verified or not for the agent. A sender without access counts. */
const HAS_DELIVERY = statement(
  'channel-connections.has_delivery',
  `select exists (
     select from deliveries where deployment_id = $1 and left(dedupe_key, 1) <> '${COUNTED_PREFIX}'
   ) as "hasDelivery"`,
);

const COUNT = statement(
  'channel-connections.count',
  `select c.provider, c.state, count(*)::integer as count
   from connections c where exists (select from channels ch where ch.deployment_id = c.deployment_id)
   group by c.provider, c.state`,
);

export type ConnectionStore = ReturnType<typeof createConnectionStore>;

export function createConnectionStore(db: Database) {
  return {
    async byIds(deploymentIds: readonly string[], options?: ReadOptions): Promise<ObservedConnection[]> {
      if (deploymentIds.length === 0) return [];
      return db.rows<ObservedConnection>(OBSERVED, [deploymentIds], options);
    },

    /**
     * Changes a connection while its row is locked, and stores the identity of the bot unless it is undefined. The row of a
     * deleted channel for which nothing is left to do is deleted.
     */
    change(
      deploymentId: string,
      decide: (current: Connection | undefined) => Connection | undefined,
      identity?: ChannelIdentity,
      options: WriteOptions = {},
    ): Promise<Connection | undefined> {
      return db.transaction(async (tx) => {
        const channel = await lockChannel(tx, deploymentId);
        const changed = decide(await lockConnection(tx, deploymentId));
        if (!changed) return undefined;
        if (!channel && changed.wanted === 'nothing') await deleteConnection(tx, deploymentId);
        else await writeConnection(tx, changed);
        if (channel && identity) await setIdentity(tx, deploymentId, identity);
        return changed;
      }, options);
    },

    /** Whether an event of the product has been accepted. */
    async hasDelivery(deploymentId: string, options?: ReadOptions): Promise<boolean> {
      const [row] = await db.rows<{ hasDelivery: boolean }>(HAS_DELIVERY, [deploymentId], options);
      return row?.hasDelivery ?? false;
    },

    /** Removals whose time is over. */
    async dueRemovals(now: Date): Promise<string[]> {
      return (await db.rows<{ deploymentId: string }>(DUE_REMOVALS, [now])).map((row) => row.deploymentId);
    },

    count: (): Promise<ConnectionCount[]> => db.rows<ConnectionCount>(COUNT),
  };
}

/**
 * Notes in the transaction that commits events of a connection when they arrived, with the new resume state. Null: unchanged.
 * Returns false when the fence is older than the lease; the transaction must then be refused with LEASE_LOST.
 */
export async function noteEvents(
  tx: DatabaseSession,
  deploymentId: string,
  fence: number,
  arrivedAt: Date | null,
  sealedResume: string | null,
): Promise<boolean> {
  return (await tx.change(NOTE_EVENTS, [deploymentId, fence, arrivedAt, sealedResume])) > 0;
}
