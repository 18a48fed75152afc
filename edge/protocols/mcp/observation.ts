import type { FastifyRequest } from 'fastify';
import { ERRORS } from '../../../lib/error-codes.ts';
import { parseTraceparent, type Trace } from '../../../lib/trace.ts';
import type { RouteContext } from '../../route.ts';
import type { ProtocolOutcome } from '../metrics.ts';
import type { ReceivedMessage } from './message.ts';
import type { McpOperation } from './operation.ts';
import { TOOLS } from './tools.ts';

interface Observation {
  /** The trace of the calls of the operation. */
  trace: Trace;
  end(outcome: McpOperation['outcome']): void;
}

/** Agents have tools of their own, whose names are no labels. */
const AGENT_TOOL = /^ask_/;
const TOOL_NAMES = new Set(TOOLS.map(({ name }) => name));
const METHODS = new Set([
  ...['initialize', 'ping', 'server/discover', 'tools/list', 'subscriptions/listen'],
  ...['resources/list', 'resources/templates/list', 'resources/read'],
  ...['tasks/get', 'tasks/update', 'tasks/cancel'],
]);
const NOTIFICATION = /^notifications\//;

/**
 * Begins the span of an operation. A `traceparent` in `_meta` continues the trace of the client, and so do the turns that the
 * operation queues.
 */
export function observeOperation(
  { tracer, protocolMetrics, log }: RouteContext,
  { span: request, id, routeOptions }: FastifyRequest,
  { method, params }: ReceivedMessage,
): Observation {
  const operation = operationOf(method, params);
  const client = clientTrace(params);
  const span = tracer.begin(`mcp ${operation}`, {
    kind: 'server',
    ...(client ? { parent: client, entering: true, links: [request.trace] } : { parent: request.trace }),
  });
  if (!span.silent) span.set({ 'mcp.method.name': method, 'http.route': routeOptions.url });
  return {
    trace: span.trace,
    end({ errorCode, cause }) {
      span.end(errorCode);
      protocolMetrics.record('mcp', operation, outcomeOf(errorCode));
      // An error without cause fails the request, which is logged then.
      if (errorCode !== 'INTERNAL' || cause === undefined) return;
      const fields = { request_id: id, trace_id: span.trace.traceId, operation };
      log.error({ ...fields, err: cause }, 'an MCP operation failed with an unexpected error');
    },
  };
}

/** The method, or the name of the tool that it calls. Texts of clients are no labels. */
function operationOf(method: string, { name }: Record<string, unknown>): string {
  if (method === 'tools/call') {
    if (typeof name !== 'string') return 'unknown';
    return TOOL_NAMES.has(name) ? name : AGENT_TOOL.test(name) ? 'ask' : 'unknown';
  }
  if (NOTIFICATION.test(method)) return 'notification';
  return METHODS.has(method) ? method : 'unknown';
}

function clientTrace({ _meta: meta }: Record<string, unknown>): Trace | undefined {
  const { traceparent } = (meta ?? {}) as { traceparent?: unknown };
  return typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
}

function outcomeOf(code: McpOperation['outcome']['errorCode']): ProtocolOutcome {
  if (code === undefined) return 'ok';
  return ERRORS[code].status < 500 ? 'refused' : 'failed';
}
