import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Exporter, ExportResult } from './exporters.ts';
import type { Receiver, Signal } from './options.ts';

/** A collector that takes longer than this for a batch counts as unavailable. */
const SLOW_MS = 2_000;
const SUCCESS = 0;

interface OutageOptions {
  signal: Signal;
  receiver: Receiver;
  clock: Clock;
  log: Log;
}

interface MonitoredExporter<Batch> extends Exporter<Batch> {
  forceFlush(): Promise<void>;
}

/** The consequence of an outage, for the log line. */
const LOSSES: Record<Signal, string> = {
  traces: 'spans that exceed the queue are dropped',
  metrics: 'the next delivery replaces this one',
  logs: 'records that exceed the queue are dropped',
};

/** Wraps an exporter: logs each outage of its collector once, and its end. */
export function monitorOutages<Batch>(
  exporter: Exporter<Batch>,
  { signal, receiver, clock, log }: OutageOptions,
): MonitoredExporter<Batch> {
  // Only the host is logged, because the rest of the URL can contain a secret.
  const collector = receiver.url === undefined ? 'localhost' : new URL(receiver.url).host;
  let isUnavailable = false;

  function reportOutage(error: unknown): void {
    if (isUnavailable) return;
    isUnavailable = true;
    log.warn({ err: error, collector }, `${signal} cannot be delivered; ${LOSSES[signal]}`);
  }

  return {
    export(batch, report) {
      let late = false;
      const cancel = clock.after(SLOW_MS, () => {
        late = true;
        reportOutage(new Error(`no answer within ${SLOW_MS} ms`));
      });
      exporter.export(batch, (result) => {
        cancel();
        if (result.code === SUCCESS) {
          if (isUnavailable && !late) log.info({ collector }, `${signal} are delivered again`);
          isUnavailable &&= late;
        } else {
          reportOutage(result.error);
        }
        report(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Wraps the exporter of spans: bounds the spans in transit and counts their outcomes. */
export function countDeliveries<Item>(
  exporter: Exporter<Item[]>,
  metrics: Metrics,
  { maxWaiting, beforeBatch }: { maxWaiting: number; beforeBatch(): void },
) {
  const spans = metrics.counter({
    name: 'ahs_telemetry_spans_total',
    help: 'Spans by outcome: delivered, failed or dropped.',
    labels: ['outcome'],
  });
  const [delivered, failed, dropped] = ['delivered', 'failed', 'dropped'].map((name) => spans.labels(name));
  let waiting = 0;

  return {
    exporter: {
      ...exporter,
      export(batch: Item[], report: (result: ExportResult) => void) {
        beforeBatch();
        exporter.export(batch, (result) => {
          waiting -= batch.length;
          (result.code === SUCCESS ? delivered : failed)?.inc(batch.length);
          report(result);
        });
      },
    },
    /** Returns whether one more span fits and counts it. */
    admit(): boolean {
      if (waiting >= maxWaiting) {
        dropped?.inc();
        return false;
      }
      waiting++;
      return true;
    },
  };
}
