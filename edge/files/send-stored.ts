import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../lib/errors.ts';
import { isNotModified } from '../input/preconditions.ts';
import type { StallMonitor } from '../streaming/stall-monitor.ts';
import { attachment } from './disposition.ts';
import { lengthOf, type RequestedRange, requestedRange } from './range.ts';
import { type ContentChunk, sendContent, sendHead } from './send-content.ts';

/** The longest response of a download, in bytes. */
export const MAX_DOWNLOAD_BYTES = 64 * 1024 * 1024;

/** Stored bytes with the facts that their response shows. */
export interface StoredBytes {
  name: string;
  mediaType: string;
  size: number;
  /** Lowercase hexadecimal. */
  sha256: string;
  /** Reads a range; without a length, all bytes from the offset. */
  read(offset: number, length: number | undefined): AsyncIterable<ContentChunk>;
}

/**
 * Sends stored bytes as an attachment, or the requested range of them. Refuses with VERSION_CONFLICT, RANGE_NOT_SATISFIABLE
 * and FILE_TOO_LARGE.
 */
export async function sendStored(
  request: FastifyRequest,
  reply: FastifyReply,
  stored: StoredBytes,
  monitor: StallMonitor,
): Promise<void> {
  const etag = `"${stored.sha256}"`;
  const cacheHeaders = { etag, 'cache-control': 'private, no-cache' };
  if (isNotModified(request.raw, etag)) return sendHead(reply, 304, cacheHeaders);
  const range = rangeToSend(request, reply, stored, etag);
  const headers = { ...cacheHeaders, ...contentHeaders(stored, range) };
  if (request.method === 'HEAD') return sendHead(reply, 200, headers);
  const source = stored.read(range?.first ?? 0, range && lengthOf(range));
  await sendContent(reply, range ? 206 : 200, headers, source, monitor);
}

/** The requested range. Refuses with FILE_TOO_LARGE a range that exceeds one response. HEAD requests have no limit. */
function rangeToSend(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  { size }: StoredBytes,
  etag: string,
): RequestedRange | undefined {
  const range = withContentRange(() => requestedRange(raw, size, etag), reply, size);
  const length = range ? lengthOf(range) : size;
  if (raw.method === 'HEAD' || length <= MAX_DOWNLOAD_BYTES) return range;
  throw refuse(
    'FILE_TOO_LARGE',
    `A response has at most ${MAX_DOWNLOAD_BYTES} bytes and the file has ${size}. Request it in ranges.`,
  );
}

/** A refusal of a range names the size of the file in Content-Range. */
function withContentRange(
  find: () => RequestedRange | undefined,
  reply: FastifyReply,
  size: number,
): RequestedRange | undefined {
  try {
    return find();
  } catch (error) {
    reply.header('content-range', `bytes */${size}`);
    throw error;
  }
}

function contentHeaders(
  { name, mediaType, size }: StoredBytes,
  range: RequestedRange | undefined,
): Record<string, string | number> {
  return {
    'accept-ranges': 'bytes',
    'content-type': mediaType,
    'content-disposition': attachment(name),
    'content-length': range ? lengthOf(range) : size,
    ...(range ? { 'content-range': `bytes ${range.first}-${range.last}/${size}` } : {}),
  };
}
