import type { FastifyRequest } from 'fastify';
import { ERRORS, type ErrorCode } from '../../lib/error-codes.ts';
import type { Refusal } from '../../lib/errors.ts';
import { type IdPrefix, isId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';

interface LoggedRequest {
  /** Called only when the line is written, because most requests have none. */
  ids(): ReturnType<typeof logFields>;
  method: string;
  /** The path pattern of the route; undefined when no route matches. */
  route: string | undefined;
  status: number;
  code: string | undefined;
  /** The error behind a response with the code INTERNAL. */
  cause: unknown;
  durationMs: number;
}

/** The recorded status of a request whose client disconnected before the response. It is never sent. */
export const CLIENT_CLOSED_REQUEST = 499;

/**
 * Returns a function that writes the log line of a request whose response has ended: at level info for a refusal of the
 * client's request (4xx), warn for other failures (5xx), error for the code INTERNAL, and debug otherwise. The line holds
 * the path pattern of the route and no path or query, which can contain secrets.
 */
export function createRequestLog(log: Log) {
  return ({ ids, method, route = 'none', status, code, cause, durationMs }: LoggedRequest): void => {
    const level = levelOf(status, code);
    if (!log.isLevelEnabled(level)) return;
    const duration_ms = Math.round(durationMs * 100) / 100;
    const fields = { ...ids(), method, route, status, code, duration_ms };
    if (level === 'error') log.error({ ...fields, err: cause }, 'request failed with an unexpected error');
    else log[level](fields, MESSAGES[level]);
  };
}

/** Writes the log line of a response to bytes that are no valid request, or to a CONNECT. */
export function logInvalidRequest(log: Log, requestId: string, { code }: Refusal): void {
  const { status } = ERRORS[code];
  const level = levelOf(status, code) === 'info' ? 'info' : 'warn';
  log[level]({ request_id: requestId, route: 'none', status, code }, MESSAGES[level]);
}

const MESSAGES = { debug: 'request', info: 'request refused', warn: 'request failed' };

function levelOf(status: number, code: string | undefined): 'debug' | 'info' | 'warn' | 'error' {
  if (status < 400 || status === CLIENT_CLOSED_REQUEST) return 'debug';
  if (status < 500) return 'info';
  return code === ('INTERNAL' satisfies ErrorCode) ? 'error' : 'warn';
}

/** Log fields by which a request is found: the ids that its client knows. Parts of the path that are no ids are left out. */
export function logFields({ id, span, params }: Pick<FastifyRequest, 'id' | 'span' | 'params'>) {
  const { session_id, turn_id, assistant_id, deployment_id } = (params ?? {}) as Partial<
    Record<string, string>
  >;
  return {
    request_id: id,
    trace_id: span?.trace.traceId,
    span_id: span?.trace.spanId,
    session_id: wellFormed('ses', session_id),
    turn_id: wellFormed('trn', turn_id),
    assistant_id: wellFormed('ast', assistant_id),
    deployment_id: wellFormed('dep', deployment_id),
  };
}

function wellFormed(prefix: IdPrefix, value: string | undefined): string | undefined {
  return value !== undefined && isId(prefix, value) ? value : undefined;
}
