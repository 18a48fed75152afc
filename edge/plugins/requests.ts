import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../lib/log.ts';
import { type Metrics, SECONDS } from '../../lib/metrics.ts';
import { SilentSpan, type Span, silentTracer, type Tracer } from '../../lib/telemetry/tracer.ts';
import { childSpan, parseTraceparent } from '../../lib/trace.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** From the headers to the end of the answer. */
    span: Span;
    outcome: Outcome;
  }
}

/** How a request ended, as far as its answer does not say. */
export interface Outcome {
  /** The code of the error table with which it was answered, if it was. */
  refused: string | undefined;
}

export interface RequestsContext {
  tracer: Tracer;
  metrics: Metrics;
  log: Log;
}

/** The status of a request whose client left before there was an answer. Nobody is sent it. */
const LEFT = 499;
/** Asked every few seconds by machines, for as long as the process lives: nobody looks for them in traces. */
const PROBES = new Set(['/livez', '/readyz', '/healthz', '/metrics']);

/**
 * Watches requests from their headers to the end of their answers, streams included: each has a span, a duration
 * and, at level debug, a line in the log. A foreign trace is only linked to; any other is continued.
 */
export function watchRequests({ tracer, metrics, log }: RequestsContext) {
  const durations = metrics.histogram({
    name: 'ahs_http_request_duration_seconds',
    help: 'HTTP requests, from their headers to the end of the answer.',
    labels: ['method', 'route', 'status'],
    buckets: [...SECONDS, 30],
  });
  function end(watched: Watched): void {
    const { response, method, route, span } = watched;
    const status = response.headersSent ? response.statusCode : LEFT;
    const code = status === LEFT ? 'CANCELLED' : watched.outcome.refused;
    const durationMs = performance.now() - watched.startedAt;
    durations.labels(method, route ?? 'none', String(status)).observe(durationMs / 1_000);
    if (status !== LEFT && !span.silent) span.set({ 'http.response.status_code': status });
    span.end(code);
    if (!log.isLevelEnabled('debug')) return;
    const facts = {
      ...factsOf(watched),
      method,
      route,
      status,
      code,
      duration_ms: Math.round(durationMs * 100) / 100,
    };
    log.debug(facts, 'a request');
  }

  return (request: FastifyRequest, { raw }: FastifyReply, isForeign: boolean): void => {
    const startedAt = performance.now();
    request.span = beginSpan(tracer, request, isForeign);
    request.outcome = { refused: undefined };
    if (!request.span.silent) request.span.set(attributesOf(request));
    const { id, method, params, span, outcome } = request;
    const watched = { id, method, params, span, outcome, response: raw, route: routeOf(request), startedAt };
    // It comes once; `once` would keep four objects for each of thousands of streams.
    raw.on('close', () => end(watched));
  };
}

/** What has to be known of a request until it is over. That may be hours: the request itself is not kept. */
interface Watched extends Pick<FastifyRequest, 'id' | 'method' | 'params' | 'span' | 'outcome'> {
  response: ServerResponse;
  route: string | undefined;
  startedAt: number;
}

function beginSpan(tracer: Tracer, request: FastifyRequest, isForeign: boolean): Span {
  const given = parseTraceparent(request.headers.traceparent?.toString());
  // The answer names a span of ours, recorded or not.
  if (tracer.silent && given && !isForeign) return new SilentSpan(childSpan(given));
  const route = routeOf(request);
  if (route !== undefined && PROBES.has(route)) return silentTracer.begin(route);
  const name = route === undefined ? request.method : `${request.method} ${route}`;
  if (!given) return tracer.begin(name, { kind: 'server' });
  return tracer.begin(name, {
    kind: 'server',
    ...(isForeign ? { links: [given] } : { parent: given, entering: true }),
  });
}

/** Undefined for a path that leads nowhere. */
function routeOf({ routeOptions }: FastifyRequest): string | undefined {
  return routeOptions?.url;
}

/** What a line in the log says of a request, so that it is found by what the client has seen of it. */
export function factsOf({ id, span, params }: Pick<FastifyRequest, 'id' | 'span' | 'params'>) {
  const { session_id, turn_id, assistant_id } = (params ?? {}) as Record<string, string | undefined>;
  return { request_id: id, trace_id: span?.trace.traceId, session_id, turn_id, assistant_id };
}

function attributesOf(request: FastifyRequest) {
  const { session_id: sessionId } = factsOf(request);
  return {
    'http.request.method': request.method,
    'http.route': routeOf(request),
    'url.scheme': 'http',
    // Whatever stands behind it may be anything.
    'url.path': request.url.split('?', 1)[0],
    'client.address': request.address,
    'ahs.request_id': request.id,
    ...(sessionId === undefined ? {} : { 'ahs.session_id': sessionId }),
  };
}
