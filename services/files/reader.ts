import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BlobMissing, type Blobs } from '../../lib/blobs/blobs.ts';
import { partsOf } from '../../lib/blobs/parts.ts';
import type { Clock } from '../../lib/clock.ts';
import { refuse } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { BLOCK_BYTES } from './digest.ts';
import type { Content, Contents } from './store/contents.ts';

export interface ReaderContext {
  blobs: Blobs;
  contents: Contents;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** What is not longer is read ahead, several at once. */
const SMALL_BYTES = 256 * 1024;

export function isSmall({ size }: Content): boolean {
  return size <= SMALL_BYTES;
}

export type Reader = ReturnType<typeof createReader>;

/** Reads the bytes of files, and gives out none that are not the ones that were written. */
export function createReader({ blobs, contents, clock, log, metrics }: ReaderContext) {
  const damages = metrics.counter({
    name: 'ahs_files_damaged_contents_total',
    help: 'Contents whose object was found to be missing or to hold other bytes.',
    labels: ['how'],
  });

  /** What is uploaded again replaces it. */
  async function report(content: Content, how: 'missing' | 'altered'): Promise<void> {
    if (!(await contents.damaged(content, clock.now()))) return;
    damages.labels(how).inc();
    const { contentId, objectKey, size } = content;
    log.error(
      { content_id: contentId, object_key: objectKey, size, how },
      'the stored bytes of a file are damaged',
    );
  }

  /**
   * Some bytes of a content, in pieces of at most 1 MiB. Every block that is touched is read whole and checked before
   * a byte of it is given out; and who reads all of them gets the last block only when the digest is right.
   * Refused with CONTENT_DAMAGED.
   */
  async function* read(
    content: Content,
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
      for await (const block of partsOf(blobs.read(content.objectKey, range, signal), BLOCK_BYTES)) {
        if (!isRight(content, at, block)) throw new Altered();
        hash?.update(block);
        const isLast = at + block.length >= stop;
        if (isLast && hash && hash.digest('hex') !== content.sha256) throw new Altered();
        if (block.length > 0) yield block.subarray(Math.max(0, offset - at), Math.max(0, end - at));
        at += block.length;
      }
      if (at !== stop) throw new Altered();
    } catch (error) {
      if (!(error instanceof Altered || error instanceof BlobMissing)) throw error;
      await report(content, error instanceof Altered ? 'altered' : 'missing');
      throw refuse('CONTENT_DAMAGED', 'the stored bytes of the file are damaged', { cause: error });
    }
  }

  return {
    read,

    /** All bytes of a content that is small enough. */
    async whole(content: Content, signal?: AbortSignal): Promise<Buffer> {
      return Buffer.concat(await Array.fromAsync(read(content, 0, content.size, signal)));
    },
  };
}

class Altered extends Error {
  override readonly name = 'Altered';
}

/** Whether a block is as long as it has to be, and its CRC is that of what was written. */
function isRight({ size, checks }: Content, at: number, block: Buffer): boolean {
  if (block.length !== Math.min(BLOCK_BYTES, size - at)) return false;
  return block.length === 0 || crc32(block) === checks.readUInt32BE((4 * at) / BLOCK_BYTES);
}
