import { type Random, systemRandom } from './backoff.ts';
import { type Refusal, refuse } from './errors.ts';
import type { CounterMetric, Metrics } from './metrics.ts';

/** The values of `Retry-After` are spread over this many seconds, so that refused clients do not return together. */
const RETRY_SPREAD_SECONDS = 4;

/** Returns 1 to 4 seconds at random, for `Retry-After`. */
export function retryAfterOverload(random: Random = systemRandom): number {
  return 1 + Math.floor(random() * RETRY_SPREAD_SECONDS);
}

/** Returns the refusal of work that a full queue cannot take. */
export function overloaded(message: string, retryAfterSeconds: number = retryAfterOverload()): Refusal {
  return refuse('DEPENDENCY_UNAVAILABLE', message, { retryAfterSeconds });
}

/** Returns the counter of the refusals of one queue. */
export function overloadRefusals(metrics: Metrics, queue: string): CounterMetric {
  return metrics
    .counter({
      name: 'ahs_overload_refusals_total',
      help: 'Requests and calls that were refused because a queue of the process was full.',
      labels: ['queue'],
    })
    .labels(queue);
}
