import { AsyncLocalStorage } from 'node:async_hooks';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { http } from '../http.ts';

/** Time limits for one request to the object store, in milliseconds. */
export interface Deadlines {
  /** Name resolution, TCP connection and TLS handshake. */
  connectMs: number;
  /** No byte in either direction: while the request is sent, before the first byte of the response, and within it. */
  idleMs: number;
  /** The body of an error response. The status alone decides when the body is later. */
  errorBodyMs: number;
  /**
   * A whole request with its response. For a read: the response without its body, and then each MiB of the body, not
   * counting the time of its reader.
   */
  requestMs: number;
  /** A whole check of the store. */
  checkMs: number;
}

export const DEADLINES: Deadlines = {
  connectMs: 5_000,
  idleMs: 20_000,
  errorBodyMs: 2_000,
  requestMs: 60_000,
  checkMs: 3_000,
};

const ERROR_BODY_BYTES = 64 * 1024;
const CODE = /<Code>\s*([A-Za-z0-9]+)\s*<\/Code>/;

/** The S3 error codes of responses without a body, as responses to HEAD are. */
const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  301: 'MovedPermanently',
  401: 'AccessDenied',
  403: 'AccessDenied',
  404: 'NotFound',
  501: 'NotImplemented',
  503: 'SlowDown',
};

/** The signal of the current request, because the S3 client passes no signals on. */
const requestSignal = new AsyncLocalStorage<AbortSignal>();

/** Runs `work`. The requests that it sends end when the signal aborts. */
export function withRequestSignal<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  return requestSignal.run(signal, work);
}

/** The object store answered with an HTTP status other than 2xx. */
export class S3ResponseError extends Error {
  override readonly name = 'S3ResponseError';
  readonly status: number;
  /** The error code of S3, such as `NoSuchKey`; `''` when the store gave none. */
  readonly code: string;

  constructor(status: number, code: string) {
    super(`The object store answered with HTTP status ${status}${code && ` (${code})`}.`);
    this.status = status;
    this.code = code;
  }
}

/**
 * The transport for the S3 client `minio` 8.0.7. It fails a request with an S3ResponseError for every status other
 * than 2xx, and when a deadline passes or its signal aborts. The client therefore never sees an error response: it would
 * leave the bodies of 408, 429, 499, 500, 502, 503, 504 and 520 unread, which keeps their connections open for ever, and
 * would wait without a deadline for the bodies of all others.
 */
export function createTransport(isSecure: boolean, deadlines: Deadlines): { request: typeof http.request } {
  const transport: Pick<typeof http, 'request'> = isSecure ? https : http;
  const request = (options: RequestOptions, onResponse?: (response: IncomingMessage) => void) => {
    let response: IncomingMessage | undefined;
    const sent = transport.request(options, (received) => {
      response = received;
      const status = received.statusCode ?? 0;
      if (status >= 200 && status < 300) return onResponse?.(received);
      void readErrorBody(received, deadlines.errorBodyMs).then((body) => {
        // A store may answer before it has read the request; the rest of it is not sent.
        if (!sent.writableFinished) sent.destroy();
        sent.emit('error', new S3ResponseError(status, CODE.exec(body)?.[1] ?? CODE_OF_STATUS[status] ?? ''));
      });
    });
    endWith(requestSignal.getStore(), sent);
    const connecting = setTimeout(
      () => sent.destroy(timeout(`did not accept a connection within ${deadlines.connectMs} ms`)),
      deadlines.connectMs,
    );
    const onConnect = () => clearTimeout(connecting);
    sent.once('close', onConnect);
    sent.once('socket', (socket: Socket) => {
      if (socket.connecting) socket.once(isSecure ? 'secureConnect' : 'connect', onConnect);
      else onConnect();
      const onIdle = () => {
        // While received bytes wait for their reader, the store is not the one that is late.
        if (response && response.readableLength > 0) return void socket.setTimeout(deadlines.idleMs);
        const error = timeout(`sent and accepted no data for ${deadlines.idleMs} ms`);
        if (response) response.destroy(error);
        else sent.destroy(error);
      };
      socket.setTimeout(deadlines.idleMs);
      socket.on('timeout', onIdle);
      // The agent gives the connection to the next request.
      sent.once('close', () => socket.off('timeout', onIdle));
    });
    return sent;
  };
  return { request: request as typeof http.request };
}

/** Ends the request when the signal aborts. */
function endWith(signal: AbortSignal | undefined, sent: ClientRequest): void {
  if (!signal) return;
  const end = () => sent.destroy(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  sent.once('close', () => signal.removeEventListener('abort', end));
  if (signal.aborted) end();
}

function timeout(problem: string): Error {
  return new Error(`The object store ${problem}.`);
}

/** Reads the body so that its connection can be used again. Returns what has arrived when the time is up. */
function readErrorBody(response: IncomingMessage, withinMs: number): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = () => {
      clearTimeout(timer);
      if (!response.complete) response.destroy();
      resolve(Buffer.concat(chunks).toString());
    };
    const timer = setTimeout(finish, withinMs);
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > ERROR_BODY_BYTES) finish();
    });
    response.once('end', finish).once('error', finish).once('close', finish);
  });
}
