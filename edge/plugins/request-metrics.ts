import { LabelSets, OTHER } from '../../lib/label-sets.ts';
import { type Metrics, SECONDS } from '../../lib/metrics.ts';

/**
 * Combinations of method, route and status with series of their own: of successful requests, of others, and statuses of
 * later combinations.
 */
const MAX_SUCCESSES = 110;
const MAX_OTHERS = 20;
const MAX_STATUSES = 12;

/** Upper bounds in seconds of the latencies of all routes together. */
const LATENCIES = [0.005, 0.025, 0.1, 0.25, 1, 5];

interface CompletedRequest {
  method: string;
  /** Undefined when no route matches. */
  route: string | undefined;
  status: number;
  seconds: number;
  kind: RequestKind | undefined;
}

/** Undefined for streams, uploads and downloads, whose durations depend on their clients. */
export type RequestKind = 'trigger' | 'read' | 'write';

/** Returns a function that records a request when its response has ended. */
export function createRequestMetrics(metrics: Metrics) {
  const durations = metrics.distribution({
    name: 'ahs_http_request_duration_seconds',
    help: 'HTTP requests, from their headers to the end of the response.',
    labels: ['method', 'route', 'status'],
    detail: 'routes',
    buckets: [...SECONDS, 30],
  });
  const latencies = metrics.histogram({
    name: 'ahs_http_latency_seconds',
    help: 'HTTP requests by kind (trigger, read or write), without streams, uploads and downloads.',
    labels: ['kind'],
    buckets: LATENCIES,
  });
  const successes = new LabelSets(MAX_SUCCESSES);
  const others = new LabelSets(MAX_OTHERS);
  const statuses = new LabelSets(MAX_STATUSES);
  const ofStatus = (status: string) => statuses.choose([OTHER, OTHER, status], () => [OTHER, OTHER, OTHER]);

  return ({ method, route, status, seconds, kind }: CompletedRequest): void => {
    const sets = route !== undefined && status < 400 && method !== 'HEAD' ? successes : others;
    const labels = sets.choose([method, route ?? 'none', String(status)], () => ofStatus(String(status)));
    durations.labels(...labels).observe(seconds);
    if (kind) latencies.labels(kind).observe(seconds);
  };
}
