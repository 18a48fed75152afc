import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../../../lib/clock.ts';
import { noteBufferBytes } from '../../../../lib/garbage-collection.ts';
import { forwardedHeaders } from '../../kernel/network/forwarded-headers.ts';
import { decodedBody } from './content-decoding.ts';
import type { EchoPattern } from './echo-patterns.ts';
import { EchoScanner, scanText } from './echo-scanner.ts';
import { ProxyRefusal } from './proxy-refusal.ts';

/** An answer whose first bytes come later than this gets its headers sent before them. */
const HEADERS_MS = 100;
/** Statuses whose answers have no body. */
const WITHOUT_BODY = [204, 304];

/**
 * Sends the answer of a host to the client, unless it contains one of the patterns. Returns the number of bytes of the
 * body. Rejects with EchoFound; `response.headersSent` tells whether a part of the answer was sent.
 */
export async function relayAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  patterns: readonly EchoPattern[],
  clock: Clock,
): Promise<number> {
  const { statusCode = 502, statusMessage = '', headers, rawHeaders } = answer;
  scanText([statusMessage, ...rawHeaders].join('\n'), patterns);
  const transferEncoding = headers['transfer-encoding'];
  if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked')
    throw new ProxyRefusal(502, 'The host answered with a transfer encoding that the proxy cannot read.');
  const hasBody = response.req.method !== 'HEAD' && !WITHOUT_BODY.includes(statusCode);
  const body: Readable = hasBody ? decodedBody(answer) : answer;
  const sendHeaders = () => {
    if (response.headersSent || response.destroyed) return;
    response.sendDate = false;
    response.writeHead(statusCode, statusMessage, answerHeaders(answer, body !== answer));
  };
  const cancel = clock.after(HEADERS_MS, () => {
    sendHeaders();
    response.flushHeaders();
  });
  try {
    const scanner = new EchoScanner(patterns);
    let bytes = 0;
    const send = (chunk: Buffer): Promise<void> | undefined => {
      if (chunk.length === 0) return undefined;
      bytes += chunk.length;
      sendHeaders();
      return response.write(chunk) ? undefined : drained(response);
    };
    const relay = (chunk: Buffer) => {
      noteBufferBytes(chunk.length);
      return send(scanner.push(chunk));
    };
    await pipeline(body, sinkOf(relay));
    await send(scanner.end());
    sendHeaders();
    response.end();
    return bytes;
  } finally {
    cancel();
    body.destroy();
  }
}

/** Reading a body as an iterable would copy its chunks into larger ones. */
function sinkOf(take: (chunk: Buffer) => Promise<void> | undefined): Writable {
  return new Writable({
    write(chunk: Buffer, _, done) {
      try {
        const taking = take(chunk);
        if (taking === undefined) done();
        else taking.then(() => done(), done);
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

function answerHeaders(answer: IncomingMessage, isDecoded: boolean): string[] {
  const headers = forwardedHeaders(answer);
  if (!isDecoded) return headers;
  return headers.flatMap((value, at) => {
    const name = (at % 2 === 0 ? value : '').toLowerCase();
    if (at % 2 === 1 || name === 'content-encoding' || name === 'content-length') return [];
    return [value, headers[at + 1] ?? ''];
  });
}

/** Rejects when the client has closed the connection. */
function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = () => reject(new Error('the client has closed the connection'));
  response.once('drain', resolve).once('close', onClose);
  if (response.destroyed) onClose();
  return promise.finally(() => response.off('drain', resolve).off('close', onClose));
}
