import { systemRandom } from '../../lib/backoff.ts';
import { createPeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import { type Backend, DegradedError, type Module } from '../../lib/modules.ts';
import { OutboundClient } from '../../lib/outbound/outbound-client.ts';
import type { ServiceContext } from '../../lib/service.ts';
import { ChannelWorker } from './channel-worker.ts';
import type { ChannelsConfig } from './config.ts';
import { ProductRegistry } from './products/registry.ts';
import type { ChannelsClients } from './work/worker-context.ts';

export type { ChannelsClients };

interface ChannelsModule extends Module {
  /** Facts about this worker for operators. */
  backends: readonly Backend[];
}

/**
 * Opens a channel worker: it connects the channels of deployments with their messaging products. A worker keeps no state.
 * Another worker continues its work when its leases end.
 */
export async function openChannels(
  context: ServiceContext,
  config: ChannelsConfig,
  clients: ChannelsClients,
): Promise<ChannelsModule> {
  const { clock, ids, log, bus, metrics, random = systemRandom } = context;
  const { slots, apiUrls, proxy, fileMaxBytes } = config;
  const outbound = new OutboundClient({ clock, privateHosts: config.outboundPrivateHosts ?? [] });
  const registry = new ProductRegistry({ clock, log, outbound, apiUrls, proxy, fileMaxBytes });
  const rateLimitWaits = metrics.counter({
    name: 'ahs_channel_rate_limit_waits_total',
    help: 'Waits of posts for a rate limit of a messaging product.',
    labels: ['provider'],
  });
  for (const provider of ProductRegistry.providers) rateLimitWaits.labels(provider).inc(0);
  const worker = new ChannelWorker({
    ...clients,
    ...{ clock, ids, log, random, registry, slots, fileMaxBytes },
    sealer: createPeerSealer('channels', context.serviceSecret),
    workerId: ids('wrk'),
    onRateLimit: (provider) => rateLimitWaits.labels(provider).inc(),
  });
  metrics.gauge(
    { name: 'ahs_channel_conversations', help: 'Conversations that this channel worker follows.' },
    (set) => set(worker.conversations),
  );
  const unsubscribe = bus.subscribe('channels.changed', (deploymentId) =>
    worker.channelChanged(deploymentId),
  );
  return {
    name: 'channels',
    backends: [{ role: 'channel worker', description: describe(config) }],
    async check() {
      // The rest of the system works without channels.
      if (worker.problem !== undefined)
        throw new DegradedError('the work of channels cannot be claimed from deployments');
    },
    drain: () => worker.drain(),
    async stop() {
      unsubscribe();
      await worker.stop();
      await outbound.close();
    },
  };
}

function describe({ slots }: ChannelsConfig): string {
  return `${ProductRegistry.providers.join(', ')}; ${slots} conversations`;
}
