import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';

/** A collector that takes longer than this for a batch counts as unavailable. */
const SLOW_MS = 2_000;
const SUCCESS = 0;

interface DeliveryOptions {
  endpoint: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** The most spans that have ended and are not delivered yet. */
  maxWaiting: number;
  beforeBatch(): void;
}

/** Wraps an exporter: bounds the spans in transit, counts their outcomes and logs each outage once. */
export function monitorDeliveries(exporter: SpanExporter, options: DeliveryOptions) {
  const { clock, log, metrics } = options;
  const spans = metrics.counter({
    name: 'ahs_telemetry_spans_total',
    help: 'Spans by outcome: delivered, failed or dropped.',
    labels: ['outcome'],
  });
  const [delivered, failed, dropped] = ['delivered', 'failed', 'dropped'].map((name) => spans.labels(name));
  // Only the host is logged, because the rest of the URL can contain a secret.
  const { host } = new URL(options.endpoint);
  let waiting = 0;
  let isUnavailable = false;

  function reportOutage(error: unknown): void {
    if (isUnavailable) return;
    isUnavailable = true;
    log.warn(
      { err: error, collector: host },
      'traces cannot be delivered; spans that exceed the queue are dropped',
    );
  }

  const watched: SpanExporter = {
    export(batch, report) {
      options.beforeBatch();
      let late = false;
      const cancel = clock.after(SLOW_MS, () => {
        late = true;
        reportOutage(new Error(`no answer within ${SLOW_MS} ms`));
      });
      exporter.export(batch, (result) => {
        cancel();
        waiting -= batch.length;
        if (result.code === SUCCESS) {
          delivered?.inc(batch.length);
          if (isUnavailable && !late) log.info({ collector: host }, 'traces are delivered again');
          isUnavailable &&= late;
        } else {
          failed?.inc(batch.length);
          reportOutage(result.error);
        }
        report(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };

  return {
    exporter: watched,
    /** Returns whether one more span fits and counts it. */
    admit(): boolean {
      if (waiting >= options.maxWaiting) {
        dropped?.inc();
        return false;
      }
      waiting++;
      return true;
    },
  };
}
