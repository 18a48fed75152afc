import type { Socket } from 'node:net';
import { type Refusal, refuse } from '../../lib/errors.ts';
import { startTrace, traceparent } from '../../lib/trace.ts';
import { errorText, statusOf } from '../errors.ts';
import { SECURITY_HEADERS } from './security.ts';

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** Answers on a connection whose request could not be read as HTTP at all, and closes it. */
export function answerMalformed(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const refusal = refusalOf(error.code);
  const status = statusOf(refusal);
  const body = errorText(refusal, requestId);
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    connection: 'close',
    traceparent: traceparent(startTrace()),
    'x-request-id': requestId,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
  );
}

function refusalOf(code: string | undefined): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return refuse('REQUEST_TIMEOUT', 'the request did not arrive in time');
  if (code === 'HPE_HEADER_OVERFLOW') return refuse('HEADERS_TOO_LARGE', 'the request headers are too large');
  return refuse('INVALID_REQUEST', 'the request is not valid HTTP');
}
