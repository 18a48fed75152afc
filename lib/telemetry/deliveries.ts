import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';

/** A collector that takes longer for a batch counts as one that is away. */
const SLOW_MS = 2_000;
const SUCCESS = 0;

export interface DeliveryOptions {
  endpoint: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Spans at most that have ended and are not delivered yet. */
  maxWaiting: number;
  beforeBatch(): void;
}

/** Spans on their way: how many there may be, what became of them, and one line in the log for each outage. */
export function watchDeliveries(exporter: SpanExporter, options: DeliveryOptions) {
  const { clock, log, metrics } = options;
  const spans = metrics.counter({
    name: 'ahs_telemetry_spans_total',
    help: 'Spans, by what became of them.',
    labels: ['outcome'],
  });
  const [delivered, failed, dropped] = ['delivered', 'failed', 'dropped'].map((name) => spans.labels(name));
  // The host only: what else stands in the URL may be a secret.
  const { host } = new URL(options.endpoint);
  let waiting = 0;
  let away = false;

  function missed(error: unknown): void {
    if (away) return;
    away = true;
    log.warn(
      { err: error, collector: host },
      'traces cannot be delivered; what does not fit meanwhile is dropped',
    );
  }

  const watched: SpanExporter = {
    export(batch, report) {
      options.beforeBatch();
      let late = false;
      const cancel = clock.after(SLOW_MS, () => {
        late = true;
        missed(new Error(`no answer within ${SLOW_MS} ms`));
      });
      exporter.export(batch, (result) => {
        cancel();
        waiting -= batch.length;
        if (result.code === SUCCESS) {
          delivered?.inc(batch.length);
          if (away && !late) log.info({ collector: host }, 'traces are delivered again');
          away &&= late;
        } else {
          failed?.inc(batch.length);
          missed(result.error);
        }
        report(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };

  return {
    exporter: watched,
    /** Whether there is room for one more. */
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
