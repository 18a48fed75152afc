import type { Blobs } from '../../lib/blobs/blobs.ts';
import type { Clock } from '../../lib/clock.ts';
import { Refusal, refuse } from '../../lib/errors.ts';
import type { Ids } from '../../lib/ids.ts';
import { type Digest, Digester } from './digest.ts';
import { checkUsage } from './domain/usage.ts';
import { eachOf } from './each.ts';
import type { Incoming } from './incoming.ts';
import type { Contents } from './store/contents.ts';

/** What came, and under which id a change may name it. */
export interface Received {
  contentId: string;
  size: number;
  sha256: string;
}

export interface ReceiverContext {
  blobs: Blobs;
  contents: Contents;
  clock: Clock;
  ids: Ids;
  fileMaxBytes: number;
  workspaceMaxBytes: number;
  /** Of all bytes of one owner; 0: as many as they like. */
  quotaBytesPerUser: number;
  graceMs: number;
}

/** What is not longer is held in memory until a few of them can be written together. */
const SMALL_BYTES = 256 * 1024;
const TOGETHER_BYTES = 4 * 1024 * 1024;
const TOGETHER = 128;
const AT_ONCE = 16;

interface Small {
  place: number;
  bytes: Buffer;
  digest: Digest;
}

/** Keeps the bytes of files. What is there already under the same owner is not kept twice. */
export class Receiver {
  readonly #context: ReceiverContext;
  readonly #ownerId: string;
  readonly #signal: AbortSignal;
  readonly #received: Received[] = [];
  #small: Small[] = [];
  #smallBytes = 0;
  /** Of all that has come. */
  #bytes = 0;
  /** Of the owner, as far as it is known here. */
  #usedBytes = 0;

  constructor(context: ReceiverContext, ownerId: string, signal: AbortSignal) {
    this.#context = context;
    this.#ownerId = ownerId;
    this.#signal = signal;
  }

  /** In the order in which they came. */
  async receive(contents: AsyncIterable<Incoming>): Promise<Received[]> {
    const { quotaBytesPerUser, contents: kept } = this.#context;
    if (quotaBytesPerUser > 0) this.#usedBytes = await kept.used(this.#ownerId, { signal: this.#signal });
    let place = 0;
    for await (const content of contents) await this.#take(content, place++);
    await this.#flush();
    return this.#received;
  }

  async #take({ declared, bytes }: Incoming, place: number): Promise<void> {
    const digester = new Digester(this.#context.fileMaxBytes, declared);
    this.#makeSure(declared ?? 0);
    const head: Uint8Array[] = [];
    let size = 0;
    for (let next = await bytes.next(); ; next = await bytes.next()) {
      if (next.done) {
        const digest = digester.finish();
        this.#bytes += size;
        return this.#hold({ place, bytes: Buffer.concat(head), digest });
      }
      digester.update(next.value);
      head.push(next.value);
      size += next.value.length;
      if (size > SMALL_BYTES) break;
    }
    this.#makeRoom(declared ?? size);
    const received = await this.#writeLarge(head, bytes, digester);
    this.#bytes += received.size;
    this.#received[place] = received;
  }

  /** What no workspace can hold would only be refused when all of it is on the disk. */
  #makeSure(more: number): void {
    const bytes = this.#bytes + more;
    const { workspaceMaxBytes } = this.#context;
    if (bytes <= workspaceMaxBytes) return;
    throw refuse(
      'QUOTA_EXCEEDED',
      `the upload has at least ${bytes} bytes, and the workspace may hold ${workspaceMaxBytes}`,
    );
  }

  /** Whether the bytes of a large file are there already is known when all have come: until then they are new. */
  #makeRoom(more: number): void {
    const { quotaBytesPerUser } = this.#context;
    if (quotaBytesPerUser > 0) checkUsage(this.#usedBytes + more, quotaBytesPerUser);
  }

  async #hold(small: Small): Promise<void> {
    this.#small.push(small);
    this.#smallBytes += small.bytes.length;
    if (this.#small.length >= TOGETHER || this.#smallBytes >= TOGETHER_BYTES) await this.#flush();
  }

  async #writeLarge(
    head: Uint8Array[],
    rest: AsyncIterator<Uint8Array>,
    digester: Digester,
  ): Promise<Received> {
    const { blobs } = this.#context;
    const tail = digester.watch({ [Symbol.asyncIterator]: () => rest });
    let come = 0;
    const makeRoom = () => this.#makeRoom(come);
    const source = async function* () {
      for (let piece = head.shift(); piece; piece = head.shift()) {
        come += piece.length;
        yield piece;
      }
      for await (const piece of tail) {
        come += piece.length;
        makeRoom();
        yield piece;
      }
    };
    const { key } = await blobs.write(source(), { signal: this.#signal });
    let digest: Digest;
    try {
      digest = digester.finish();
    } catch (error) {
      await this.#drop(key);
      throw error;
    }
    return receivedOf(await this.#add([{ objectKey: key, digest }]), digest.sha256);
  }

  async #flush(): Promise<void> {
    const { contents, blobs } = this.#context;
    const small = this.#small;
    this.#small = [];
    this.#smallBytes = 0;
    if (small.length === 0) return;
    const { checkAt } = this.#times();
    const wanted = new Map(small.map((one) => [one.digest.sha256, one]));
    const there = new Map<string, Received>(await contents.known(this.#ownerId, [...wanted.keys()], checkAt));
    const missing = [...wanted.values()].filter(({ digest }) => !there.has(digest.sha256));
    const written: { objectKey: string; digest: Digest }[] = [];
    await eachOf(missing, AT_ONCE, async ({ bytes, digest }) => {
      const { key } = await blobs.write([bytes], { signal: this.#signal });
      written.push({ objectKey: key, digest });
    });
    for (const [sha256, received] of await this.#add(written)) there.set(sha256, received);
    for (const { place, digest } of small) {
      const received = there.get(digest.sha256);
      if (received) this.#received[place] = received;
    }
  }

  /**
   * By their digests. An object that was written for a content that is there already goes again, and so do those that
   * there is no room for. After any other failure nobody knows whether they are needed.
   */
  async #add(
    written: readonly { objectKey: string; digest: Digest }[],
  ): Promise<ReadonlyMap<string, Received>> {
    const { contents, ids, quotaBytesPerUser } = this.#context;
    const maxBytes = quotaBytesPerUser || undefined;
    const rows = written.map(({ objectKey, digest }) => ({ contentId: ids('cnt'), objectKey, ...digest }));
    const adding = contents.add(this.#ownerId, rows, { ...this.#times(), maxBytes });
    const added = await adding.catch(async (error: unknown) => {
      if (error instanceof Refusal && error.code === 'QUOTA_EXCEEDED')
        await eachOf(rows, AT_ONCE, ({ objectKey }) => this.#drop(objectKey));
      throw error;
    });
    for (const { ownerBytes } of added.values()) this.#usedBytes = ownerBytes ?? this.#usedBytes;
    for (const { objectKey, sha256 } of rows)
      if (added.get(sha256)?.objectKey !== objectKey) await this.#drop(objectKey);
    return added;
  }

  /** What stays behind when this fails is found later: it belongs to nothing. */
  async #drop(objectKey: string): Promise<void> {
    await this.#context.blobs.delete(objectKey).catch(() => {});
  }

  #times(): { now: Date; checkAt: Date } {
    const { clock, graceMs } = this.#context;
    const now = clock.now();
    return { now, checkAt: new Date(now.getTime() + graceMs) };
  }
}

function receivedOf(added: ReadonlyMap<string, Received>, sha256: string): Received {
  const received = added.get(sha256);
  if (!received) throw new Error('a content that was added is not there');
  return received;
}
