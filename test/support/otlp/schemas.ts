import type { MessageSchema } from './protobuf.ts';

/* The parts of https://github.com/open-telemetry/opentelemetry-proto that the tests read. */

const VALUE: MessageSchema = {
  1: ['stringValue', 'string'],
  2: ['boolValue', 'bool'],
  3: ['intValue', 'int'],
  4: ['doubleValue', 'double'],
};
const ATTRIBUTE: MessageSchema = { 1: ['key', 'string'], 2: ['value', VALUE] };
const RESOURCE: MessageSchema = { 1: ['attributes', ATTRIBUTE, 'repeated'] };
const SCOPE: MessageSchema = { 1: ['name', 'string'], 2: ['version', 'string'] };

const SPAN: MessageSchema = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'string'],
  6: ['kind', 'int'],
  9: ['attributes', ATTRIBUTE, 'repeated'],
};
const NUMBER: MessageSchema = { 4: ['asDouble', 'double'], 7: ['attributes', ATTRIBUTE, 'repeated'] };
const HISTOGRAM: MessageSchema = {
  4: ['count', 'fixed64'],
  5: ['sum', 'double'],
  6: ['bucketCounts', 'fixed64', 'repeated'],
  7: ['explicitBounds', 'double', 'repeated'],
  9: ['attributes', ATTRIBUTE, 'repeated'],
};
const METRIC: MessageSchema = {
  1: ['name', 'string'],
  2: ['description', 'string'],
  3: ['unit', 'string'],
  5: ['gauge', { 1: ['dataPoints', NUMBER, 'repeated'] }],
  7: [
    'sum',
    {
      1: ['dataPoints', NUMBER, 'repeated'],
      2: ['aggregationTemporality', 'int'],
      3: ['isMonotonic', 'bool'],
    },
  ],
  9: ['histogram', { 1: ['dataPoints', HISTOGRAM, 'repeated'], 2: ['aggregationTemporality', 'int'] }],
};
const LOG_RECORD: MessageSchema = {
  2: ['severityNumber', 'int'],
  3: ['severityText', 'string'],
  5: ['body', VALUE],
  6: ['attributes', ATTRIBUTE, 'repeated'],
  9: ['traceId', 'hex'],
  10: ['spanId', 'hex'],
};

const request = (resources: string, scopes: string, items: string, item: MessageSchema): MessageSchema => ({
  1: [
    resources,
    {
      1: ['resource', RESOURCE],
      2: [
        scopes,
        { 1: ['scope', SCOPE], 2: [items, item, 'repeated'], 3: ['schemaUrl', 'string'] },
        'repeated',
      ],
    },
    'repeated',
  ],
});

/** The request message of each signal. */
export const REQUESTS = {
  traces: request('resourceSpans', 'scopeSpans', 'spans', SPAN),
  metrics: request('resourceMetrics', 'scopeMetrics', 'metrics', METRIC),
  logs: request('resourceLogs', 'scopeLogs', 'logRecords', LOG_RECORD),
};
