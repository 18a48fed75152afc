import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Refusal, refuse } from '../../lib/errors.ts';
import { http } from '../../lib/http.ts';
import { startTrace, traceparent } from '../../lib/trace.ts';
import { errorText, statusOf } from '../errors.ts';
import { checkProtocol, type ProtocolError, refusalOfProtocolError } from './http-protocol.ts';
import { SECURITY_HEADERS } from './security.ts';

/** The connection is destroyed when the client has not closed it this long after the last response. */
const LINGER_MS = 1_000;

/** A request and its response. */
interface HttpExchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The request timeout does not apply to the body. */
  slowBody: boolean;
}

/** The most recent request and response of each connection. */
export type Exchanges = WeakMap<Duplex, HttpExchange>;

/** Returns the text of the response to an invalid request. */
type Responder = (refusal: Refusal) => string;

/** Connections that close after their current response. Node reports everything that they receive meanwhile as an error. */
const closing = new WeakSet<Duplex>();

/** Whether the connection closes after its current response and accepts no further request. */
export const isClosing = (socket: Duplex): boolean => closing.has(socket);

/**
 * Responds to a request that is not valid HTTP or took too long, and closes its connection. The responses to earlier
 * requests of the connection are completed first; then the connection closes without a response to the invalid bytes.
 */
export function respondToMalformed(
  error: ProtocolError,
  socket: Socket,
  exchanges: Exchanges,
  respond: Responder,
): void {
  const exchange = exchanges.get(socket);
  // Node reports the total time of a request once. The route limits the time without progress.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && exchange?.slowBody && !exchange.request.complete) return;
  if (isClosing(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  closing.add(socket);
  if (exchange && !exchange.request.complete) {
    // The error is in this request. After the head of its response, text would end up inside that response.
    const refusal = checkProtocol(exchange.request) ?? refusalOfProtocolError(error);
    close(socket, exchange.response.headersSent ? '' : respond(refusal));
  } else if (exchange && !exchange.response.writableFinished) closeAfter(exchange.response, socket);
  else close(socket, respond(refusalOfProtocolError(error)));
}

/** Refuses CONNECT, after the responses to earlier requests of the connection. Node would close it without a response. */
export function refuseConnect(server: Server, exchanges: Exchanges, respond: Responder): void {
  const queued = trackQueuedResponses(server);
  server.on('connect', (_request, socket) => {
    // Node no longer ends the responses that wait behind others when the connection closes.
    socket.once('close', () => {
      for (const response of queued.get(socket) ?? []) response.destroy();
    });
    const refusal = refuse('NOT_IMPLEMENTED', 'The service is not a proxy. CONNECT is not supported.');
    const text = respond(refusal);
    // Node has removed its listeners.
    socket.on('error', () => {});
    socket.resume();
    const exchange = exchanges.get(socket);
    if (!exchange || exchange.response.writableFinished) close(socket, text);
    else exchange.response.once('finish', () => close(socket, text));
  });
}

/** Returns the open responses that began while an earlier response of their connection was open. */
function trackQueuedResponses(server: Server): WeakMap<Duplex, Set<ServerResponse>> {
  const queued = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on('request', ({ socket }, response) => {
    // A response has a socket once all earlier ones have ended.
    if (response.socket) return;
    const responses = queued.get(socket) ?? new Set();
    queued.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  });
  return queued;
}

/** Closes a connection after a response that has not ended. Further bytes are read and discarded meanwhile. */
function closeAfter(response: ServerResponse, socket: Socket): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
  // Node would destroy the connection at the end of its last response. Unread bytes would then reset the connection, and
  // the client might not receive the whole response.
  socket.destroySoon = () => close(socket, '');
  response.once('finish', () => close(socket, ''));
}

function close(socket: Duplex, text: string): void {
  if (socket.writableEnded) return;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(text);
}

/** Returns a complete HTTP response, for a connection that closes after it. */
export function responseTo(refusal: Refusal, requestId: string): string {
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
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}
