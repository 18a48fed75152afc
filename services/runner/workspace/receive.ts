import type { CheckoutHead, CheckoutResponse, Entry } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { WorkspaceTree } from '../sandbox/tree.ts';
import type { Known } from './known.ts';

type Message = NonNullable<CheckoutResponse['kind']>;

/**
 * Writes what a checkout says into a tree, as it comes, and remembers what the files hold. Returns which version is
 * there then, and whether anything came.
 */
export async function receive(
  checkout: AsyncIterable<CheckoutResponse>,
  tree: WorkspaceTree,
  known: Known,
): Promise<CheckoutHead & { isNew: boolean }> {
  const incoming = new Incoming(checkout);
  try {
    const first = await incoming.next();
    if (first?.$case !== 'head') throw new Error('a checkout does not begin with its head');
    if (first.value.whole) {
      await tree.clear();
      known.clear();
    }
    let isNew = first.value.whole;
    for (let message = await incoming.next(); message; message = await incoming.next()) {
      isNew = true;
      if (message.$case === 'removed') {
        await tree.remove(message.value);
        known.remove(message.value);
      } else if (message.$case === 'entry') {
        await put(tree, message.value, incoming);
        known.put(message.value);
      } else throw new Error(`a checkout has ${message.$case} in the wrong place`);
    }
    return { ...first.value, isNew };
  } finally {
    await incoming.leave();
  }
}

async function put(tree: WorkspaceTree, entry: Entry, incoming: Incoming): Promise<void> {
  const { path, kind, target, executable, modifiedAt = new Date(0) } = entry;
  if (kind === 'directory') return tree.makeDirectory(path);
  if (kind === 'symlink') return tree.putSymlink(path, target);
  return tree.putFile(path, incoming.bytes(), { executable, modifiedAt });
}

/** The messages of a checkout, of which one may be looked at before it is taken. */
class Incoming {
  readonly #source: AsyncIterator<CheckoutResponse>;
  #held: Message | undefined;

  constructor(source: AsyncIterable<CheckoutResponse>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async next(): Promise<Message | undefined> {
    const held = this.#held;
    this.#held = undefined;
    if (held) return held;
    for (;;) {
      const { done, value } = await this.#source.next();
      if (done) return undefined;
      // A kind of message that is not known yet is none for this one.
      if (value.kind) return value.kind;
    }
  }

  /** Those of the file that came last. */
  async *bytes(): AsyncGenerator<Uint8Array> {
    for (let message = await this.next(); message; message = await this.next()) {
      if (message.$case !== 'bytes') {
        this.#held = message;
        return;
      }
      yield message.value;
    }
  }

  async leave(): Promise<void> {
    await this.#source.return?.();
  }
}
