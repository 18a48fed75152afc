import type { FastifyReply } from 'fastify';
import { noteBufferBytes } from '../../lib/garbage-collection.ts';
import { type ResponseHeaders, ResponseWriter } from '../streaming/response-writer.ts';
import type { StallMonitor } from '../streaming/stall-monitor.ts';

/** A chunk of a download. */
export interface ContentChunk {
  bytes: Buffer;
}

/** Sends a response without a body. Its Content-Length, if any, is the length of the omitted content. */
export function sendHead(reply: FastifyReply, status: number, headers: ResponseHeaders): void {
  reply.hijack();
  const all: ResponseHeaders = { ...reply.getHeaders(), ...headers };
  reply.raw.writeHead(status, all).end();
}

/**
 * Sends a response whose content is streamed from a service, at the speed of the client. An error before the first chunk is
 * thrown and becomes an error response. After a later error the connection is closed without a regular end, so that the
 * client detects an incomplete response.
 */
export async function sendContent(
  reply: FastifyReply,
  status: number,
  headers: ResponseHeaders,
  source: AsyncIterable<ContentChunk>,
  monitor: StallMonitor,
): Promise<void> {
  const chunks = source[Symbol.asyncIterator]();
  try {
    const first = await chunks.next();
    if (reply.request.method === 'HEAD') return sendHead(reply, status, headers);
    reply.hijack();
    const all = { ...reply.getHeaders(), ...headers };
    await copyChunks(chunks, first, new ResponseWriter(reply.raw, all, monitor, status));
  } finally {
    await chunks.return?.();
  }
}

async function copyChunks(
  chunks: AsyncIterator<ContentChunk>,
  first: IteratorResult<ContentChunk>,
  writer: ResponseWriter,
): Promise<void> {
  try {
    for (let next = first; !next.done && writer.open; next = await chunks.next()) {
      writer.write(next.value.bytes);
      await writer.flushed();
      noteBufferBytes(next.value.bytes.length);
    }
    writer.end();
  } catch {
    writer.abort();
  }
}
