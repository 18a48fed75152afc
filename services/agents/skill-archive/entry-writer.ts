import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { SkillTree } from '../domain/skill-tree.ts';
import type { UnpackedFile } from './messages.ts';

interface EntryFacts {
  path: string;
  executable: boolean;
  /** Called with the number of unpacked bytes of the file so far. */
  check?(size: number): void;
}

/**
 * Writes the files of an archive one after the other into one file. A file for each takes several times as long. The thread
 * that unpacks the archive does nothing else, so it waits for the disk.
 */
export class EntryWriter implements Disposable {
  readonly files: UnpackedFile[] = [];
  readonly #descriptor: number;
  readonly #tree: SkillTree;
  #written = 0;

  constructor(contents: string, tree: SkillTree) {
    this.#descriptor = openSync(contents, 'wx+', 0o600);
    this.#tree = tree;
  }

  async write({ path, executable, check }: EntryFacts, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const offset = this.#written;
    const hash = createHash('sha256');
    for await (const chunk of bytes) {
      this.#written += chunk.length;
      const size = this.#written - offset;
      check?.(size);
      this.#tree.countBytes(path, chunk.length, size);
      hash.update(chunk);
      this.#append(chunk);
    }
    const size = this.#written - offset;
    this.files.push({ path, offset, size, sha256: hash.digest('hex'), executable });
  }

  /** Reads the bytes of an entry that is left out. They count, too. */
  async skip(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    let size = 0;
    for await (const chunk of bytes) {
      size += chunk.length;
      this.#tree.countBytes(path, chunk.length, size);
    }
  }

  read({ offset, size }: UnpackedFile): Buffer {
    const bytes = Buffer.alloc(size);
    readSync(this.#descriptor, bytes, 0, size, offset);
    return bytes;
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #append(chunk: Uint8Array): void {
    // A nearly full disk accepts fewer bytes; the next write reports the error.
    for (let from = 0; from < chunk.length; ) from += writeSync(this.#descriptor, chunk, from);
  }
}
