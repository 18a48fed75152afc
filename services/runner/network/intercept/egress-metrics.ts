import type { Metrics } from '../../../../lib/metrics.ts';

/** How the proxy uses the credential of a host: it sets headers, or replaces placeholders of variables. */
export type HostClass = 'header' | 'variable';
export type EgressOutcome = 'forwarded' | 'refused' | 'failed' | 'echo';

export interface EgressMetrics {
  noteRequest(hostClass: HostClass, outcome: EgressOutcome): void;
}

export function createEgressMetrics(metrics: Metrics): EgressMetrics {
  const requests = metrics.counter({
    name: 'ahs_egress_requests_total',
    help: 'Requests of sandboxes to hosts with a credential. echo: the answer contained the credential and was cut.',
    labels: ['host_class', 'outcome'],
  });
  return { noteRequest: (hostClass, outcome) => requests.labels(hostClass, outcome).inc() };
}
