import type { Bus } from '../../../lib/bus/bus.ts';
import { createCache } from '../../../lib/cache.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Secret } from '../../../lib/secret.ts';
import { CACHE_MAX_AGE_MS } from '../admission.ts';
import type { Channel, ChannelStore } from '../store/channels.ts';
import type { ChannelSealing } from './channel-sealing.ts';

export type { Channel };

/** A channel with its opened credentials. */
export interface OpenChannel extends Channel {
  credentials: Readonly<Record<string, Secret>>;
}

const MAX_CHANNELS = 2_000;

interface ChannelReaderContext {
  store: Pick<ChannelStore, 'lookUp' | 'forWork'>;
  sealing: ChannelSealing;
  bus: Bus;
  clock: Clock;
}

export type ChannelReader = ReturnType<typeof createChannelReader>;

/** Reads channels for the work on their events and posts. Change hints clear the cache immediately. */
export function createChannelReader({ store, sealing, bus, clock }: ChannelReaderContext) {
  const channels = createCache<OpenChannel | undefined>(clock, CACHE_MAX_AGE_MS, MAX_CHANNELS);
  const subscriptions = [
    bus.subscribe('deployments.changed', (deploymentId) => channels.drop(deploymentId)),
    bus.subscribe('channels.changed', (deploymentId) => channels.drop(deploymentId)),
  ];

  const openCredentials = ({ sealedCredentials, deploymentId }: Channel): Record<string, Secret> =>
    sealing.openCredentials(sealedCredentials, deploymentId);

  async function load(
    deploymentId: string,
    { trace }: Pick<Call, 'trace'>,
  ): Promise<OpenChannel | undefined> {
    const channel = await store.lookUp(deploymentId, { trace });
    return channel && { ...channel, credentials: openCredentials(channel) };
  }

  return {
    /** Undefined for an unknown deployment and for one of another type. At most one second old. */
    find: (deploymentId: string, call: Pick<Call, 'trace'>): Promise<OpenChannel | undefined> =>
      channels.get(deploymentId, () => load(deploymentId, call)),

    /** As `find`, but not older than the call. */
    findCurrent(deploymentId: string, call: Pick<Call, 'trace'>): Promise<OpenChannel | undefined> {
      channels.drop(deploymentId);
      return channels.get(deploymentId, () => load(deploymentId, call));
    },

    /** The current channels for the work of channel workers, also deleted ones that are removed from their products. */
    async channelsOf(
      deploymentIds: readonly string[],
      { trace }: Pick<Call, 'trace'>,
    ): Promise<Map<string, Channel>> {
      const found = await store.forWork([...new Set(deploymentIds)], { trace });
      return new Map(found.map((channel) => [channel.deploymentId, channel]));
    },

    openCredentials,

    close(): void {
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}
