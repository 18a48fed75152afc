import type { IncomingMessage, ServerResponse } from 'node:http';
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
/** How long a client may take to read the answer before its connection is cut. */
const LINGER_MS = 1_000;

/** The newest exchange of every connection that has had one. */
export type Exchanges = WeakMap<
  Socket,
  {
    request: IncomingMessage;
    response: ServerResponse;
    /** Its body may take longer than that of other requests. */
    unhurried: boolean;
  }
>;

/** Answers on a connection whose request could not be read as HTTP, and closes it. */
export function answerMalformed(
  error: Error & { code?: string },
  socket: Socket,
  exchanges: Exchanges,
  requestId: string,
): void {
  const exchange = exchanges.get(socket);
  // Node has only looked at the time that the whole of it takes, and looks no more.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && exchange?.unhurried && !exchange.request.complete) return;
  // Answered already; more of the same has come since.
  if (socket.writableEnded) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
  if (mayAnswer(exchange)) socket.end(answerTo(error.code, requestId));
  else socket.end();
}

/** Nothing may be written into another answer, or be taken for the answer to another request. */
function mayAnswer(exchange: ReturnType<Exchanges['get']>): boolean {
  if (!exchange) return true;
  const { request, response } = exchange;
  return request.complete ? response.writableFinished : !response.headersSent;
}

function answerTo(code: string | undefined, requestId: string): string {
  const refusal = refusalOf(code);
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
  return `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

function refusalOf(code: string | undefined): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return refuse('REQUEST_TIMEOUT', 'the request did not arrive in time');
  if (code === 'HPE_HEADER_OVERFLOW') return refuse('HEADERS_TOO_LARGE', 'the request headers are too large');
  return refuse('INVALID_REQUEST', 'the request is not valid HTTP');
}
