import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../lib/log.ts';
import { type Metrics, SECONDS } from '../../lib/metrics.ts';
import { SilentSpan, type Span, silentTracer, type Tracer } from '../../lib/telemetry/tracer.ts';
import { childSpan, parseTraceparent } from '../../lib/trace.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Begins with the request headers and ends with the response. */
    span: Span;
    outcome: RequestOutcome;
  }
}

/** The result of a request that its response status does not show. */
interface RequestOutcome {
  /** The error code of the response, if it is an error. */
  errorCode: string | undefined;
}

interface TelemetryContext {
  tracer: Tracer;
  metrics: Metrics;
  log: Log;
}

/** The recorded status of a request whose client disconnected before the response. It is never sent. */
const CLIENT_CLOSED_REQUEST = 499;
/** Polled every few seconds by orchestrators and Prometheus; these requests are not traced. */
const PROBES = new Set(['/livez', '/readyz', '/healthz', '/metrics']);

/**
 * Records requests from their headers to the end of their responses, streams included: each has a span, a duration and, at
 * log level debug, a log line. The trace of a webhook sender is linked; other incoming traces are continued.
 */
export function createRequestTelemetry({ tracer, metrics, log }: TelemetryContext) {
  const durations = metrics.histogram({
    name: 'ahs_http_request_duration_seconds',
    help: 'HTTP requests, from their headers to the end of the response.',
    labels: ['method', 'route', 'status'],
    buckets: [...SECONDS, 30],
  });
  function end(observed: ObservedRequest): void {
    const { response, method, route, span } = observed;
    const status = response.headersSent ? response.statusCode : CLIENT_CLOSED_REQUEST;
    const code = status === CLIENT_CLOSED_REQUEST ? 'CANCELLED' : observed.outcome.errorCode;
    const durationMs = performance.now() - observed.startedAt;
    durations.labels(method, route ?? 'none', String(status)).observe(durationMs / 1_000);
    if (status !== CLIENT_CLOSED_REQUEST && !span.silent) span.set({ 'http.response.status_code': status });
    span.end(code);
    if (!log.isLevelEnabled('debug')) return;
    const fields = {
      ...logFields(observed),
      method,
      route,
      status,
      code,
      duration_ms: Math.round(durationMs * 100) / 100,
    };
    log.debug(fields, 'request');
  }

  return (request: FastifyRequest, { raw }: FastifyReply, linkOnly: boolean): void => {
    const startedAt = performance.now();
    request.span = beginSpan(tracer, request, linkOnly);
    request.outcome = { errorCode: undefined };
    if (!request.span.silent) request.span.set(spanAttributes(request));
    const { id, method, params, span, outcome } = request;
    const observed = { id, method, params, span, outcome, response: raw, route: routeOf(request), startedAt };
    // The event fires once. `once` would keep four more objects for each of thousands of streams.
    raw.on('close', () => end(observed));
  };
}

/** The parts of a request that are kept until its response ends. Streams last for hours, so the request itself is not kept. */
interface ObservedRequest extends Pick<FastifyRequest, 'id' | 'method' | 'params' | 'span' | 'outcome'> {
  response: ServerResponse;
  route: string | undefined;
  startedAt: number;
}

function beginSpan(tracer: Tracer, request: FastifyRequest, linkOnly: boolean): Span {
  const incoming = parseTraceparent(request.headers.traceparent?.toString());
  // The response names a span of this service, recorded or not.
  if (tracer.silent && incoming && !linkOnly) return new SilentSpan(childSpan(incoming));
  const route = routeOf(request);
  if (route !== undefined && PROBES.has(route)) return silentTracer.begin(route);
  const name = route === undefined ? request.method : `${request.method} ${route}`;
  if (!incoming) return tracer.begin(name, { kind: 'server' });
  return tracer.begin(name, {
    kind: 'server',
    ...(linkOnly ? { links: [incoming] } : { parent: incoming, entering: true }),
  });
}

/** The path pattern of the route; undefined when no route matches. */
function routeOf({ routeOptions }: FastifyRequest): string | undefined {
  return routeOptions?.url;
}

/** Log fields by which a request is found: the ids that its client knows. */
export function logFields({ id, span, params }: Pick<FastifyRequest, 'id' | 'span' | 'params'>) {
  const { session_id, turn_id, assistant_id } = (params ?? {}) as Record<string, string | undefined>;
  const trace = { trace_id: span?.trace.traceId, span_id: span?.trace.spanId };
  return { request_id: id, ...trace, session_id, turn_id, assistant_id };
}

function spanAttributes(request: FastifyRequest) {
  const { session_id: sessionId } = logFields(request);
  return {
    'http.request.method': request.method,
    'http.route': routeOf(request),
    'url.scheme': 'http',
    // The query may hold personal data.
    'url.path': request.url.split('?', 1)[0],
    'client.address': request.address,
    'ahs.request_id': request.id,
    ...(sessionId === undefined ? {} : { 'ahs.session_id': sessionId }),
  };
}
