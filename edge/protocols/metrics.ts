import type { Protocol } from '../../lib/event-types.ts';
import { LabelSets, OTHER } from '../../lib/label-sets.ts';
import type { Metrics } from '../../lib/metrics.ts';

/** Combinations of protocol, operation and outcome with series of their own. */
const MAX_OPERATIONS = 80;

export type ProtocolOutcome = 'ok' | 'refused' | 'failed';

/** The metrics of requests in other protocols than the REST API. */
export interface ProtocolMetrics {
  record(protocol: Protocol, operation: string, outcome: ProtocolOutcome): void;
  /** Counts a call that waits for a turn. The returned function ends it. */
  beginWait(protocol: Protocol): () => void;
  /** Counts an open stream. The returned function ends it. */
  beginStream(protocol: Protocol): () => void;
}

export function createProtocolMetrics(metrics: Metrics): ProtocolMetrics {
  const requests = metrics.counter({
    name: 'ahs_protocol_requests_total',
    help: 'Requests in protocols other than the REST API, by protocol, operation and outcome (ok, refused or failed).',
    labels: ['protocol', 'operation', 'outcome'],
  });
  const operations = new LabelSets(MAX_OPERATIONS);
  return {
    record(protocol, operation, outcome) {
      const labels = operations.choose([protocol, operation, outcome], () => [protocol, OTHER, outcome]);
      requests.labels(...labels).inc();
    },
    beginWait: openGauge(metrics, {
      name: 'ahs_protocol_waits',
      help: 'Calls in protocols other than the REST API that wait for a turn, by protocol.',
    }),
    beginStream: openGauge(metrics, {
      name: 'ahs_protocol_streams',
      help: 'Open streams in protocols other than the REST API, by protocol.',
    }),
  };
}

function openGauge(metrics: Metrics, about: { name: string; help: string }) {
  const open = new Map<Protocol, number>();
  metrics.gauge({ ...about, labels: ['protocol'] }, (set) => {
    for (const [protocol, count] of open) set(count, protocol);
  });
  const add = (protocol: Protocol, difference: number) =>
    open.set(protocol, (open.get(protocol) ?? 0) + difference);
  return (protocol: Protocol) => {
    add(protocol, 1);
    let ended = false;
    return () => {
      if (!ended) add(protocol, -1);
      ended = true;
    };
  };
}
