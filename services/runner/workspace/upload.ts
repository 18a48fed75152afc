import type { ContentsPlace, WriteContentsRequest } from '../../../proto/gen/ahs/files/v1/files.ts';

/** The bytes of one file that is to be kept. */
export interface Source {
  size: number;
  read(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** One message carries at most this much. */
const MESSAGE_BYTES = 1024 * 1024;

/** The messages of one WriteContents: a file is read when its turn has come, and never more of it than one message. */
export async function* upload(
  place: ContentsPlace,
  sources: Iterable<Source>,
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
