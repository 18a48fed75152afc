import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResponseHeaders } from '../streaming/response-writer.ts';

/** The rest of a request body is discarded for at most this long after the response. */
const MAX_DISCARD_MS = 30_000;
/** The connection is closed earlier when no data arrives for this long. */
const MAX_SILENCE_MS = 5_000;
/** At most this many bytes of a request body are discarded: four times the longest message between services. */
const MAX_DISCARDED_BYTES = 256 * 1024 * 1024;

/**
 * Responds to a request whose body is still arriving and then closes the connection. The complete response is sent
 * immediately. The rest of the body is read and discarded within the limits above before the connection is closed: if it
 * were closed with unread data, the operating system would reset it, and a client that is still sending would not receive
 * the response.
 */
export function sendEarlyResponse(
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
  let discarded = 0;
  const close = () => {
    clearTimeout(limit);
    clearTimeout(silence);
    response.end();
  };
  const limit = setTimeout(close, MAX_DISCARD_MS);
  const silence = setTimeout(close, MAX_SILENCE_MS);
  request.on('error', () => {});
  request.on('data', ({ length }: Buffer) => {
    discarded += length;
    if (discarded > MAX_DISCARDED_BYTES) close();
    else silence.refresh();
  });
  request.once('close', close);
  request.once('end', close);
}
