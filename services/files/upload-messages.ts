import { refuse } from '../../lib/errors.ts';
import { abortable } from '../../lib/grpc/abortable.ts';
import type { CreateUploadRequest, WriteContentsRequest } from '../../proto/gen/ahs/files/v1/files.ts';

/** One content of an upload that is being received. */
export interface IncomingContent {
  /** In bytes, if the client has declared it. */
  declaredSize: number | undefined;
  /** The consumer must read these bytes to their end before it takes the next content. */
  bytes: AsyncIterator<Uint8Array>;
}

export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Splits the messages after the first one into contents. Refused with INVALID_REQUEST. */
export async function* incomingContents(
  messages: AsyncIterator<WriteContentsRequest>,
  signal: AbortSignal,
): AsyncGenerator<IncomingContent> {
  let kind = await nextOf(messages, signal);
  while (kind) {
    if (kind.$case !== 'begin')
      throw refuse('INVALID_REQUEST', 'A `begin` message must come before the bytes of a content.');
    const declaredSize = kind.value.size;
    kind = undefined;
    const bytes = (async function* () {
      for (;;) {
        kind = await nextOf(messages, signal);
        if (kind?.$case !== 'bytes') return;
        yield checkLength(kind.value);
      }
    })();
    yield { declaredSize, bytes };
  }
}

/** The only content of an upload, whose first message has arrived. Refused with INVALID_REQUEST. */
export async function* incomingUpload(
  messages: AsyncIterator<CreateUploadRequest>,
  declaredSize: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<IncomingContent> {
  const bytes = (async function* () {
    for (let kind = await nextOf(messages, signal); kind; kind = await nextOf(messages, signal)) {
      if (kind.$case !== 'bytes')
        throw refuse('INVALID_REQUEST', 'Every message of an upload after the first one must be `bytes`.');
      yield checkLength(kind.value);
    }
  })();
  yield { declaredSize, bytes };
}

function checkLength(bytes: Buffer): Buffer {
  if (bytes.length > MAX_MESSAGE_BYTES)
    throw refuse('INVALID_REQUEST', `A message must have at most ${MAX_MESSAGE_BYTES} bytes.`);
  return bytes;
}

async function nextOf<Kind extends object>(
  messages: AsyncIterator<{ kind?: Kind | undefined }>,
  signal: AbortSignal,
): Promise<Kind | undefined> {
  const { done, value } = await abortable(messages.next(), signal);
  if (done) return undefined;
  if (!value.kind) throw refuse('INVALID_REQUEST', 'Every message of an upload must have a kind.');
  return value.kind;
}
