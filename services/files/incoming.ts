import { refuse } from '../../lib/errors.ts';
import { abortable } from '../../lib/grpc/abortable.ts';
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
export async function* contentsOf(
  messages: AsyncIterator<WriteContentsRequest>,
  signal: AbortSignal,
): AsyncGenerator<Incoming> {
  let kind = await nextOf(messages, signal);
  while (kind) {
    if (kind.$case !== 'begin')
      throw refuse('INVALID_REQUEST', 'a content has to begin before its bytes come');
    const declared = kind.value.size;
    kind = undefined;
    const bytes = (async function* () {
      for (;;) {
        kind = await nextOf(messages, signal);
        if (kind?.$case !== 'bytes') return;
        if (kind.value.length > MAX_PIECE_BYTES)
          throw refuse('INVALID_REQUEST', `a message may hold ${MAX_PIECE_BYTES} bytes`);
        yield kind.value;
      }
    })();
    yield { declared, bytes };
  }
}

async function nextOf(messages: AsyncIterator<WriteContentsRequest>, signal: AbortSignal) {
  const { done, value } = await abortable(messages.next(), signal);
  if (done) return undefined;
  if (!value.kind) throw refuse('INVALID_REQUEST', 'a message of an upload says nothing');
  return value.kind;
}
