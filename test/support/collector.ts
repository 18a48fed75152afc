import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A span as a collector receives it, with the resource that sent it. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the root of a trace. */
  parentSpanId: string;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  service: string;
  resource: Record<string, unknown>;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  failed: boolean;
  startedAt: bigint;
  endedAt: bigint;
}

export interface Collector extends AsyncDisposable {
  url: string;
  /** All received spans in the order of arrival. */
  spans: ReceivedSpan[];
  /** The headers of the last request. */
  headers: Record<string, unknown>;
  of(traceId: string): ReceivedSpan[];
  /** Accepts requests without answering until `answer` is called. */
  hang(): void;
  answer(): void;
}

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const ERROR = 2;

/** Starts a collector that receives traces over OTLP/HTTP with JSON. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const answering = Promise.withResolvers<void>();
  let isHanging = false;
  const server = createServer(async (request, response) => {
    collector.headers = request.headers;
    const body = await text(request);
    if (isHanging) await answering.promise;
    const isJson = request.headers['content-type'] === 'application/json';
    if (request.url === '/v1/traces' && isJson) spans.push(...spansIn(JSON.parse(body)));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers: {},
    of: (traceId) => spans.filter((span) => span.traceId === traceId),
    hang() {
      isHanging = true;
    },
    answer() {
      isHanging = false;
      answering.resolve();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}

interface Pair {
  key: string;
  value: {
    stringValue?: string;
    intValue?: unknown;
    doubleValue?: number;
    boolValue?: boolean;
    arrayValue?: Values;
  };
}
type Values = { values: Pair['value'][] };

interface RawSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Pair[];
  links?: { traceId: string; spanId: string }[];
  status: { code: number };
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

interface Message {
  resourceSpans: { resource: { attributes: Pair[] }; scopeSpans: { spans: RawSpan[] }[] }[];
}

function spansIn({ resourceSpans }: Message): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource: { attributes }, scopeSpans }) => {
    const resource = recordOf(attributes);
    return scopeSpans.flatMap((scope) => scope.spans.map((span) => receivedSpan(span, resource)));
  });
}

function receivedSpan(span: RawSpan, resource: Record<string, unknown>): ReceivedSpan {
  const { traceId, spanId, parentSpanId = '', name, links = [] } = span;
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: KINDS[span.kind] ?? 'internal',
    service: String(resource['service.name']),
    resource,
    attributes: recordOf(span.attributes),
    links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    failed: span.status.code === ERROR,
    startedAt: BigInt(span.startTimeUnixNano),
    endedAt: BigInt(span.endTimeUnixNano),
  };
}

function recordOf(pairs: Pair[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, plain(value)]));
}

function plain({ arrayValue, intValue, ...value }: Pair['value']): unknown {
  if (arrayValue) return arrayValue.values.map(plain);
  return intValue === undefined ? Object.values(value)[0] : Number(intValue);
}
