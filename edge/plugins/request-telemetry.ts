import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { SilentSpan, type Span, silentTracer, type Tracer } from '../../lib/telemetry/tracer.ts';
import { childSpan, parseTraceparent } from '../../lib/trace.ts';
import { CLIENT_CLOSED_REQUEST, createRequestLog, logFields } from './request-log.ts';
import { createRequestMetrics, type RequestKind } from './request-metrics.ts';

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
  /** The error behind a response with the code INTERNAL. */
  cause: unknown;
}

interface TelemetryContext {
  tracer: Tracer;
  metrics: Metrics;
  log: Log;
}

/** Polled every few seconds by orchestrators and Prometheus; these requests are not traced. */
const PROBES = new Set(['/livez', '/readyz', '/healthz', '/metrics']);

/**
 * Records requests from their headers to the end of their responses, streams included: each has a span, a duration and a
 * log line. The trace of a webhook sender is linked; other incoming traces are continued.
 */
export function createRequestTelemetry({ tracer, metrics, log }: TelemetryContext) {
  const record = createRequestMetrics(metrics);
  const writeLine = createRequestLog(log);
  function end(observed: ObservedRequest): void {
    const { response, method, route, kind, span, outcome } = observed;
    const status = response.headersSent ? response.statusCode : CLIENT_CLOSED_REQUEST;
    const code = status === CLIENT_CLOSED_REQUEST ? 'CANCELLED' : outcome.errorCode;
    const durationMs = performance.now() - observed.startedAt;
    record({ method, route, status, seconds: durationMs / 1_000, kind });
    if (status !== CLIENT_CLOSED_REQUEST && !span.silent) span.set({ 'http.response.status_code': status });
    span.end(code);
    const ids = () => logFields(observed);
    writeLine({ ids, method, route, status, code, cause: outcome.cause, durationMs });
  }

  /** Called once. It is shared, because each of thousands of streams would retain a function of its own. */
  function onClose(this: ObservedResponse): void {
    const observed = this[OBSERVED];
    if (observed) end(observed);
  }

  return (request: FastifyRequest, { raw }: FastifyReply, linkOnly: boolean): void => {
    const startedAt = performance.now();
    request.span = beginSpan(tracer, request, linkOnly);
    request.outcome = { errorCode: undefined, cause: undefined };
    if (!request.span.silent) request.span.set(spanAttributes(request));
    const { id, method, params, span, outcome } = request;
    const route = routeOf(request);
    const kind = kindOf(request, linkOnly);
    const response: ObservedResponse = raw;
    response[OBSERVED] = { id, method, params, span, outcome, response, route, kind, startedAt };
    // The event fires once. `once` would keep four more objects for each of thousands of streams.
    response.on('close', onClose);
  };
}

/** The parts of a request that are kept until its response ends. Streams last for hours, so the request itself is not kept. */
interface ObservedRequest extends Pick<FastifyRequest, 'id' | 'method' | 'params' | 'span' | 'outcome'> {
  response: ServerResponse;
  route: string | undefined;
  kind: RequestKind | undefined;
  startedAt: number;
}

const OBSERVED = Symbol('observed request');

interface ObservedResponse extends ServerResponse {
  [OBSERVED]?: ObservedRequest;
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

function kindOf({ method, routeOptions }: FastifyRequest, isTrigger: boolean): RequestKind | undefined {
  if (isTrigger) return 'trigger';
  const { url, config } = routeOptions ?? {};
  if (url === undefined || PROBES.has(url) || config?.longLived) return undefined;
  return method === 'GET' || method === 'HEAD' ? 'read' : 'write';
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
