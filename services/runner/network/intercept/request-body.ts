import type { IncomingMessage } from 'node:http';

/** The beginning of a body that is searched for placeholders before the request is forwarded. */
const CHECKED_BYTES = 64 * 1024;

/** Reads the beginning of a body, or all of a shorter one. The stream is paused then. Rejects when the client leaves. */
export function readBeginning(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length < CHECKED_BYTES) return;
    request.pause();
    resolve();
  };
  const onEnd = () => resolve();
  const onClose = () => reject(new Error('the client has closed the connection'));
  request.on('data', onData).once('end', onEnd).once('close', onClose);
  if (request.destroyed && !request.readableEnded) onClose();
  return promise
    .finally(() => request.off('data', onData).off('end', onEnd).off('close', onClose))
    .then(() => Buffer.concat(chunks));
}

/** The headers that state the length of a body. */
export function framingHeaders({ headers, method = '' }: IncomingMessage): [string, string][] {
  if (headers['transfer-encoding'] !== undefined) return [['Transfer-Encoding', 'chunked']];
  const length = headers['content-length'];
  if (length !== undefined) return [['Content-Length', length]];
  // Node would announce a chunked body.
  return ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'].includes(method) ? [] : [['Content-Length', '0']];
}
