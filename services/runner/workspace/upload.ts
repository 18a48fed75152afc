import type { ContentsPlace, WriteContentsRequest } from '../../../proto/gen/ahs/files/v1/files.ts';

/** The content of a file to store. */
export interface ContentSource {
  size: number;
  read(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Limit of the bytes in one message. */
const MESSAGE_BYTES = 1024 * 1024;

/** The messages of one WriteContents call. Sources are read one after the other, at most one message ahead. */
export async function* writeContentsRequests(
  place: ContentsPlace,
  sources: Iterable<ContentSource>,
): AsyncGenerator<WriteContentsRequest> {
  yield { kind: { $case: 'place', value: place } };
  for (const { size, read } of sources) {
    yield { kind: { $case: 'begin', value: { size } } };
    for await (const chunk of read()) {
      for (let begin = 0; begin < chunk.length; begin += MESSAGE_BYTES) {
        const part = chunk.subarray(begin, begin + MESSAGE_BYTES);
        const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
        yield { kind: { $case: 'bytes', value: bytes } };
      }
    }
  }
}
