import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteContext } from '../../route.ts';
import { ResponseWriter } from '../../streaming/response-writer.ts';

/** The headers that the library reads. It gets no credentials. */
const READ_HEADERS = /^(accept|mcp-.+)$/;

/** The request as the library reads it. The body has been read. */
export function webRequest(
  { headers, method, url }: FastifyRequest,
  signal: AbortSignal | undefined,
): Request {
  const read = new Headers({ 'content-type': 'application/json' });
  for (const [name, value] of Object.entries(headers))
    if (READ_HEADERS.test(name) && typeof value === 'string') read.set(name, value);
  return new Request(`http://edge${url}`, { method, headers: read, ...(signal && { signal }) });
}

/** Sends a response of the library, with the headers that every response has. */
export async function sendResponse(
  response: Response,
  reply: FastifyReply,
  { stallMonitor, protocolMetrics }: RouteContext,
): Promise<unknown> {
  const type = response.headers.get('content-type');
  reply.code(response.status);
  if (!response.body) return reply.send();
  if (type === null || !type.startsWith('text/event-stream'))
    return reply.type(type ?? 'application/json').send(await response.text());
  reply.hijack();
  const headers = { ...reply.getHeaders(), 'content-type': type, 'x-accel-buffering': 'no' };
  const writer = new ResponseWriter(reply.raw, headers, stallMonitor, response.status);
  const release = protocolMetrics.beginStream('mcp');
  try {
    for await (const chunk of response.body) {
      writer.write(chunk);
      await writer.flushed();
      if (!writer.open) break;
    }
    writer.end();
  } catch {
    // The status has been sent, so the client can only see that the stream ends early.
    writer.abort();
  } finally {
    release();
  }
  return reply;
}
