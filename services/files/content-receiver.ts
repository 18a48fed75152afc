import type { Blobs } from '../../lib/blobs/blobs.ts';
import type { Clock } from '../../lib/clock.ts';
import { Refusal, refuse } from '../../lib/errors.ts';
import type { Ids } from '../../lib/ids.ts';
import { MAX_PART_BYTES } from '../../lib/part-limits.ts';
import { forEachConcurrently } from './concurrency.ts';
import { type Digest, Digester } from './digest.ts';
import { checkOwnerQuota } from './domain/owner-quota.ts';
import type { Contents } from './store/contents.ts';
import type { IncomingContent } from './upload-messages.ts';

/** A received content, with the id by which changes can name it. */
interface ReceivedContent {
  contentId: string;
  size: number;
  sha256: string;
}

export interface ContentReceiverContext {
  blobs: Blobs;
  contents: Contents;
  clock: Clock;
  ids: Ids;
  fileMaxBytes: number;
  workspaceMaxBytes: number;
  /** Limit for all stored bytes of one owner; 0 for no limit. */
  quotaBytesPerUser: number;
  graceMs: number;
}

/** For bytes that no workspace has to hold: uploads and parts of messages. */
export function forParts(context: ContentReceiverContext): ContentReceiverContext {
  const fileMaxBytes = Math.min(context.fileMaxBytes, MAX_PART_BYTES);
  return { ...context, fileMaxBytes, workspaceMaxBytes: Number.POSITIVE_INFINITY };
}

/** Contents up to this size are buffered and written in batches. */
const SMALL_BYTES = 256 * 1024;
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_CONTENTS = 128;
const CONCURRENT_WRITES = 16;

interface BufferedContent {
  index: number;
  bytes: Buffer;
  digest: Digest;
}

/** Stores the contents of one upload. Bytes that the owner has stored before are not stored again. */
export class ContentReceiver {
  readonly #context: ContentReceiverContext;
  readonly #ownerId: string;
  readonly #signal: AbortSignal;
  readonly #received: ReceivedContent[] = [];
  #batch: BufferedContent[] = [];
  #batchBytes = 0;
  /** The batch that is being written, while the next one is received. */
  #writing = Promise.resolve();
  /** Bytes received so far. */
  #receivedBytes = 0;
  /** Stored bytes of the owner, as last read. */
  #usedBytes = 0;

  constructor(context: ContentReceiverContext, ownerId: string, signal: AbortSignal) {
    this.#context = context;
    this.#ownerId = ownerId;
    this.#signal = signal;
  }

  /** Returns the contents in the order in which they were received. */
  async receive(contents: AsyncIterable<IncomingContent>): Promise<ReceivedContent[]> {
    const { quotaBytesPerUser, contents: store } = this.#context;
    if (quotaBytesPerUser > 0)
      this.#usedBytes = await store.usedBytes(this.#ownerId, { signal: this.#signal });
    let index = 0;
    try {
      for await (const content of contents) await this.#receiveOne(content, index++);
      await this.#flush();
      await this.#writing;
      return this.#received;
    } finally {
      await this.#writing.catch(() => {});
    }
  }

  async #receiveOne({ declaredSize, bytes }: IncomingContent, index: number): Promise<void> {
    const digester = new Digester(this.#context.fileMaxBytes, declaredSize);
    this.#checkWorkspaceLimit(declaredSize ?? 0);
    const head: Uint8Array[] = [];
    let size = 0;
    for (let next = await bytes.next(); ; next = await bytes.next()) {
      if (next.done) {
        const digest = digester.finish();
        this.#receivedBytes += size;
        return this.#buffer({ index, bytes: Buffer.concat(head), digest });
      }
      digester.update(next.value);
      head.push(next.value);
      size += next.value.length;
      if (size > SMALL_BYTES) break;
    }
    this.#checkOwnerQuota(declaredSize ?? size);
    const received = await this.#writeLarge(head, bytes, digester);
    this.#receivedBytes += received.size;
    this.#received[index] = received;
  }

  /** Refuses early a content that exceeds the limit of a workspace. The change would refuse it, too, but only after all bytes are stored. */
  #checkWorkspaceLimit(more: number): void {
    const bytes = this.#receivedBytes + more;
    const { workspaceMaxBytes } = this.#context;
    if (bytes <= workspaceMaxBytes) return;
    throw refuse(
      'QUOTA_EXCEEDED',
      `The upload has at least ${bytes} bytes; a workspace can hold ${workspaceMaxBytes} bytes.`,
    );
  }

  /** Counts a large file as new, because only its complete digest shows whether the owner has stored it before. */
  #checkOwnerQuota(more: number): void {
    const { quotaBytesPerUser } = this.#context;
    if (quotaBytesPerUser > 0) checkOwnerQuota(this.#usedBytes + more, quotaBytesPerUser);
  }

  async #buffer(content: BufferedContent): Promise<void> {
    this.#batch.push(content);
    this.#batchBytes += content.bytes.length;
    if (this.#batch.length >= BATCH_CONTENTS || this.#batchBytes >= BATCH_BYTES) await this.#flush();
  }

  async #writeLarge(
    head: Uint8Array[],
    rest: AsyncIterator<Uint8Array>,
    digester: Digester,
  ): Promise<ReceivedContent> {
    const { blobs } = this.#context;
    const tail = digester.digestWhileReading({ [Symbol.asyncIterator]: () => rest });
    let size = 0;
    const checkQuota = () => this.#checkOwnerQuota(size);
    const source = async function* () {
      for (let piece = head.shift(); piece; piece = head.shift()) {
        size += piece.length;
        yield piece;
      }
      for await (const piece of tail) {
        size += piece.length;
        checkQuota();
        yield piece;
      }
    };
    const { key } = await blobs.write(source(), { signal: this.#signal });
    let digest: Digest;
    try {
      digest = digester.finish();
    } catch (error) {
      await this.#deleteObject(key);
      throw error;
    }
    return receivedOf(await this.#add([{ objectKey: key, digest }]), digest.sha256);
  }

  /** Starts to write the batch when the one before it is written. */
  async #flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    await this.#writing;
    if (batch.length === 0) return;
    this.#writing = this.#write(batch);
    // The next `await` throws the error.
    this.#writing.catch(() => {});
  }

  async #write(batch: readonly BufferedContent[]): Promise<void> {
    const { contents, blobs } = this.#context;
    const { checkAt } = this.#times();
    const byDigest = new Map(batch.map((content) => [content.digest.sha256, content]));
    const stored = new Map<string, ReceivedContent>(
      await contents.existing(this.#ownerId, [...byDigest.keys()], checkAt),
    );
    const missing = [...byDigest.values()].filter(({ digest }) => !stored.has(digest.sha256));
    const written: { objectKey: string; digest: Digest }[] = [];
    try {
      await forEachConcurrently(missing, CONCURRENT_WRITES, async ({ bytes, digest }) => {
        const { key } = await blobs.write([bytes], { signal: this.#signal });
        written.push({ objectKey: key, digest });
      });
    } catch (error) {
      for (const { objectKey } of written) blobs.discard(objectKey);
      throw error;
    }
    for (const [sha256, received] of await this.#add(written)) stored.set(sha256, received);
    for (const { index, digest } of batch) {
      const received = stored.get(digest.sha256);
      if (received) this.#received[index] = received;
    }
  }

  /**
   * Returns the contents by their digests. Deletes an object again if the content had another object already, and all
   * objects on QUOTA_EXCEEDED. After any other failure the objects stay, because the rows may have been committed.
   */
  async #add(
    written: readonly { objectKey: string; digest: Digest }[],
  ): Promise<ReadonlyMap<string, ReceivedContent>> {
    const { contents, ids, quotaBytesPerUser } = this.#context;
    const maxBytes = quotaBytesPerUser || undefined;
    const rows = written.map(({ objectKey, digest }) => ({ contentId: ids('cnt'), objectKey, ...digest }));
    const adding = contents.add(this.#ownerId, rows, { ...this.#times(), maxBytes });
    const added = await adding.catch(async (error: unknown) => {
      if (error instanceof Refusal && error.code === 'QUOTA_EXCEEDED')
        await forEachConcurrently(rows, CONCURRENT_WRITES, ({ objectKey }) => this.#deleteObject(objectKey));
      throw error;
    });
    for (const { ownerBytes } of added.values()) this.#usedBytes = ownerBytes ?? this.#usedBytes;
    for (const { objectKey, sha256 } of rows)
      if (added.get(sha256)?.objectKey !== objectKey) await this.#deleteObject(objectKey);
    return added;
  }

  /** Never fails: a deletion that fails is repeated in the background. */
  async #deleteObject(objectKey: string): Promise<void> {
    const { blobs } = this.#context;
    await blobs.delete(objectKey).catch(() => blobs.discard(objectKey));
  }

  #times(): { now: Date; checkAt: Date } {
    const { clock, graceMs } = this.#context;
    const now = clock.now();
    return { now, checkAt: new Date(now.getTime() + graceMs) };
  }
}

function receivedOf(added: ReadonlyMap<string, ReceivedContent>, sha256: string): ReceivedContent {
  const received = added.get(sha256);
  if (!received) throw new Error('the store returned no row for a content that was added');
  return received;
}
