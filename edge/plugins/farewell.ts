import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResponseHeaders } from '../streaming/outflow.ts';

/** How long a sender whose request was answered early may go on sending, and how long it may be silent meanwhile. */
const LINGER_MS = 30_000;
const SILENCE_MS = 5_000;

/**
 * Answers a request whose body is still on its way. The whole answer goes out at once, but the connection is only closed
 * when the rest of the body has come and was forgotten, or after a while: if it were closed at once, the system would
 * take the answer back from a sender that is still sending.
 */
export function answerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: ResponseHeaders,
  text: string,
): void {
  response.writeHead(status, {
    ...headers,
    connection: 'close',
    'content-length': Buffer.byteLength(text),
  });
  response.write(text);
  const close = () => {
    clearTimeout(limit);
    clearTimeout(silence);
    response.end();
  };
  const limit = setTimeout(close, LINGER_MS);
  const silence = setTimeout(close, SILENCE_MS);
  request.on('error', () => {});
  request.on('data', () => silence.refresh());
  request.once('close', close);
  request.once('end', close);
}
