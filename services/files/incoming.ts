import { refuse } from '../../lib/errors.ts';
import type { WriteContentsRequest } from '../../proto/gen/ahs/files/v1/files.ts';

/** One content on its way here. */
export interface Incoming {
  /** Bytes that were announced. */
  declared: number | undefined;
  /** They have to be read to their end before the next content. */
  bytes: AsyncIterator<Uint8Array>;
}

export const MAX_PIECE_BYTES = 1024 * 1024;

/** Takes the messages of an upload apart, after the first one. Refused with INVALID_REQUEST. */
export async function* contentsOf(messages: AsyncIterator<WriteContentsRequest>): AsyncGenerator<Incoming> {
  let kind = await nextOf(messages);
  while (kind) {
    if (kind.$case !== 'begin')
      throw refuse('INVALID_REQUEST', 'a content has to begin before its bytes come');
    const declared = kind.value.size;
    kind = undefined;
    const bytes = (async function* () {
      for (;;) {
        kind = await nextOf(messages);
        if (kind?.$case !== 'bytes') return;
        if (kind.value.length > MAX_PIECE_BYTES)
          throw refuse('INVALID_REQUEST', `a message may hold ${MAX_PIECE_BYTES} bytes`);
        yield kind.value;
      }
    })();
    yield { declared, bytes };
  }
}

async function nextOf(messages: AsyncIterator<WriteContentsRequest>) {
  const { done, value } = await messages.next();
  if (done) return undefined;
  if (!value.kind) throw refuse('INVALID_REQUEST', 'a message of an upload says nothing');
  return value.kind;
}
