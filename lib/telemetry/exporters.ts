import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Receiver } from './options.ts';

/** The result of an export; `code` 0 means success. */
export interface ExportResult {
  code: number;
  error?: Error;
}

/** The common interface of the exporters of all signals. */
export interface Exporter<Batch> {
  export(batch: Batch, report: (result: ExportResult) => void): void;
  forceFlush?(): Promise<void>;
  shutdown(): Promise<void>;
}

/*
 * The exporters read further variables themselves: time limits, compression and certificates
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/#configuration-options).
 */

export async function createSpanExporter(receiver: Receiver): Promise<Exporter<ReadableSpan[]>> {
  switch (receiver.protocol) {
    case 'grpc': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc');
      return new OTLPTraceExporter(await grpcOptions(receiver));
    }
    case 'http/json': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
      return new OTLPTraceExporter(httpOptions(receiver));
    }
    case 'http/protobuf': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
      return new OTLPTraceExporter(httpOptions(receiver));
    }
  }
}

export async function createMetricExporter(receiver: Receiver): Promise<Exporter<ResourceMetrics>> {
  switch (receiver.protocol) {
    case 'grpc': {
      const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-grpc');
      return new OTLPMetricExporter(await grpcOptions(receiver));
    }
    case 'http/json': {
      const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-http');
      return new OTLPMetricExporter(httpOptions(receiver));
    }
    case 'http/protobuf': {
      const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto');
      return new OTLPMetricExporter(httpOptions(receiver));
    }
  }
}

export async function createLogExporter(receiver: Receiver): Promise<Exporter<ReadableLogRecord[]>> {
  switch (receiver.protocol) {
    case 'grpc': {
      const { OTLPLogExporter } = await import('@opentelemetry/exporter-logs-otlp-grpc');
      return new OTLPLogExporter(await grpcOptions(receiver));
    }
    case 'http/json': {
      const { OTLPLogExporter } = await import('@opentelemetry/exporter-logs-otlp-http');
      return new OTLPLogExporter(httpOptions(receiver));
    }
    case 'http/protobuf': {
      const { OTLPLogExporter } = await import('@opentelemetry/exporter-logs-otlp-proto');
      return new OTLPLogExporter(httpOptions(receiver));
    }
  }
}

function httpOptions({ url, headers }: Receiver) {
  return { ...(url !== undefined && { url }), headers: { ...headers } };
}

/** The scheme of the URL selects TLS; its path is not used. */
async function grpcOptions({ url, headers }: Receiver) {
  const { createMetadata } = await import('../grpc/create-metadata.ts');
  return { ...(url !== undefined && { url }), metadata: createMetadata(headers) };
}
