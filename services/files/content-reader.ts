import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BlobMissing, type Blobs } from '../../lib/blobs/blobs.ts';
import { splitIntoParts } from '../../lib/blobs/parts.ts';
import type { Clock } from '../../lib/clock.ts';
import { refuse } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { BLOCK_BYTES } from './digest.ts';
import type { Contents, StoredContent } from './store/contents.ts';

interface ContentReaderContext {
  blobs: Blobs;
  contents: Contents;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** Contents up to this size are read ahead, several at once. */
const SMALL_BYTES = 256 * 1024;

export function isSmall({ size }: StoredContent): boolean {
  return size <= SMALL_BYTES;
}

export type ContentReader = ReturnType<typeof createContentReader>;

/** Reads the bytes of files and verifies them against their checksums before it returns them. */
export function createContentReader({ blobs, contents, clock, log, metrics }: ContentReaderContext) {
  const damages = metrics.counter({
    name: 'ahs_files_damaged_contents_total',
    help: 'Contents whose object was found to be missing or to hold other bytes.',
    labels: ['how'],
  });

  /** Marks a content as damaged, so that an upload of the same bytes replaces its object. */
  async function report(content: StoredContent, how: 'missing' | 'altered'): Promise<void> {
    if (!(await contents.markDamaged(content, clock.now()))) return;
    damages.labels(how).inc();
    const { contentId, objectKey, size } = content;
    log.error(
      { content_id: contentId, object_key: objectKey, size, how },
      'stored bytes of a file are damaged; an upload of the same content repairs it',
    );
  }

  /**
   * Yields a range of a content in pieces of at most 1 MiB. Each block of the range is read whole and its CRC-32 is
   * checked before a byte of it is returned. A read of the whole content also checks the SHA-256 before the last block.
   * Refused with CONTENT_DAMAGED.
   */
  async function* read(
    content: StoredContent,
    offset: number,
    length: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const end = Math.min(content.size, offset + length);
    if (offset >= end && content.size > 0) return;
    const isWhole = offset === 0 && end === content.size;
    const hash = isWhole ? createHash('sha256') : undefined;
    const start = offset - (offset % BLOCK_BYTES);
    const stop = Math.min(content.size, Math.ceil(end / BLOCK_BYTES) * BLOCK_BYTES);
    try {
      const range = { offset: start, length: stop - start };
      let at = start;
      for await (const block of splitIntoParts(blobs.read(content.objectKey, range, signal), BLOCK_BYTES)) {
        if (!isIntact(content, at, block)) throw new AlteredContent();
        hash?.update(block);
        const isLast = at + block.length >= stop;
        if (isLast && hash && hash.digest('hex') !== content.sha256) throw new AlteredContent();
        if (block.length > 0) yield block.subarray(Math.max(0, offset - at), Math.max(0, end - at));
        at += block.length;
      }
      if (at !== stop) throw new AlteredContent();
    } catch (error) {
      if (!(error instanceof AlteredContent || error instanceof BlobMissing)) throw error;
      await report(content, error instanceof AlteredContent ? 'altered' : 'missing');
      throw refuse('CONTENT_DAMAGED', 'The stored bytes of the file are damaged. Upload the file again.', {
        cause: error,
      });
    }
  }

  return {
    read,

    /** Returns all bytes of a small content. */
    async whole(content: StoredContent, signal?: AbortSignal): Promise<Buffer> {
      return Buffer.concat(await Array.fromAsync(read(content, 0, content.size, signal)));
    },
  };
}

class AlteredContent extends Error {
  override readonly name = 'Altered';
}

/** Returns whether a block has the expected length and the CRC-32 of the bytes that were written. */
function isIntact({ size, checks }: StoredContent, at: number, block: Buffer): boolean {
  if (block.length !== Math.min(BLOCK_BYTES, size - at)) return false;
  return block.length === 0 || crc32(block) === checks.readUInt32BE((4 * at) / BLOCK_BYTES);
}
