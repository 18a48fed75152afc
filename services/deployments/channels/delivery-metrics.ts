import type { Metrics } from '../../../lib/metrics.ts';
import type { Provider } from '../domain/channels/channel.ts';
import type { DeliveryResultName } from '../domain/channels/delivery-result.ts';

/** Counts an event of a product that got a result. */
export type DeliveryCounter = (provider: Provider, result: DeliveryResultName) => void;

export function createDeliveryMetrics(metrics: Metrics): DeliveryCounter {
  const results = metrics.counter({
    name: 'ahs_channel_deliveries_total',
    help: 'Events of messaging products by provider and result: pending (stored for the agent), duplicate, ignored or refused; and the final results of stored ones: accepted, ignored, refused or failed.',
    labels: ['provider', 'result'],
  });
  results.labels('http', 'pending').inc(0);
  return (provider, result) => results.labels(provider, result).inc();
}
