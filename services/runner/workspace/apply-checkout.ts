import type { CheckoutHead, CheckoutResponse, Entry } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { WorkspaceTree } from '../sandbox/workspace-tree.ts';
import type { FileDigestCache } from './file-digest-cache.ts';

/** A tree to which a checkout is written. */
type CheckoutTarget = Pick<
  WorkspaceTree,
  'clear' | 'requireSpace' | 'remove' | 'makeDirectory' | 'putSymlink' | 'putFile'
>;

type CheckoutMessage = NonNullable<CheckoutResponse['kind']>;

/**
 * Writes a streamed checkout to a tree and records the digests of its files, if `digests` is given. Returns the head of the checkout, with the
 * version that is in the tree afterwards, and whether the checkout changed anything.
 */
export async function applyCheckout(
  checkout: AsyncIterable<CheckoutResponse>,
  tree: CheckoutTarget,
  digests?: FileDigestCache,
): Promise<CheckoutHead & { isNew: boolean }> {
  const reader = new CheckoutReader(checkout);
  try {
    const first = await reader.next();
    if (first?.$case !== 'head') throw new Error('The first message of a checkout must be its head.');
    if (first.value.whole) {
      await tree.clear();
      digests?.clear();
    }
    await tree.requireSpace({ files: first.value.files, bytes: first.value.bytes });
    let isNew = first.value.whole;
    for (let message = await reader.next(); message; message = await reader.next()) {
      isNew = true;
      if (message.$case === 'removed') {
        await tree.remove(message.value);
        digests?.remove(message.value);
      } else if (message.$case === 'entry') {
        await writeEntry(tree, message.value, reader);
        digests?.put(message.value);
      } else throw new Error(`Unexpected message ${message.$case} in a checkout.`);
    }
    return { ...first.value, isNew };
  } finally {
    await reader.close();
  }
}

async function writeEntry(tree: CheckoutTarget, entry: Entry, reader: CheckoutReader): Promise<void> {
  const { path, kind, target, executable, modifiedAt = new Date(0) } = entry;
  if (kind === 'directory') return tree.makeDirectory(path);
  if (kind === 'symlink') return tree.putSymlink(path, target);
  return tree.putFile(path, reader.bytes(), { executable, modifiedAt });
}

/** Reads the messages of a checkout, with one message of look-ahead. */
class CheckoutReader {
  readonly #source: AsyncIterator<CheckoutResponse>;
  #lookAhead: CheckoutMessage | undefined;

  constructor(source: AsyncIterable<CheckoutResponse>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async next(): Promise<CheckoutMessage | undefined> {
    const message = this.#lookAhead;
    this.#lookAhead = undefined;
    if (message) return message;
    for (;;) {
      const { done, value } = await this.#source.next();
      if (done) return undefined;
      // A newer release can send kinds of messages that this release does not know: they are skipped.
      if (value.kind) return value.kind;
    }
  }

  /** The bytes of the file whose entry was read last. */
  async *bytes(): AsyncGenerator<Uint8Array> {
    for (let message = await this.next(); message; message = await this.next()) {
      if (message.$case !== 'bytes') {
        this.#lookAhead = message;
        return;
      }
      yield message.value;
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
