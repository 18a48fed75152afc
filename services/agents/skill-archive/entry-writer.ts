import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { SkillTree } from '../domain/skill-tree.ts';
import type { UnpackedFile } from './messages.ts';

interface EntryFacts {
  path: string;
  executable: boolean;
  /** Called with the number of unpacked bytes of the file so far. */
  check?(size: number): void;
}

/** Writes the files of an archive into a directory, under numbers instead of their names. */
export class EntryWriter {
  readonly files: UnpackedFile[] = [];
  readonly #directory: string;
  readonly #tree: SkillTree;

  constructor(directory: string, tree: SkillTree) {
    this.#directory = directory;
    this.#tree = tree;
  }

  async write({ path, executable, check }: EntryFacts, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const source = join(this.#directory, `${this.files.length}`);
    const hash = createHash('sha256');
    let size = 0;
    await using file = await open(source, 'wx', 0o600);
    for await (const chunk of bytes) {
      size += chunk.length;
      check?.(size);
      this.#tree.countBytes(path, chunk.length, size);
      hash.update(chunk);
      await file.write(chunk);
    }
    this.files.push({ path, source, size, sha256: hash.digest('hex'), executable });
  }

  /** Reads the bytes of an entry that is left out. They count, too. */
  async skip(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    let size = 0;
    for await (const chunk of bytes) {
      size += chunk.length;
      this.#tree.countBytes(path, chunk.length, size);
    }
  }
}
