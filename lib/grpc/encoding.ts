import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { noteBufferBytes } from '../garbage-collection.ts';
import type { Codec, Contract } from './contract.ts';

/** Shared by all messages, because encoding is synchronous. Its buffer is already large; a new writer would grow in steps. */
let writer = new BinaryWriter();
/** A writer whose buffer has grown beyond this is replaced. */
const MAX_RETAINED_BYTES = 2 * 1024 * 1024;
/** A writer has had buffers of about this many times the size of its message. */
const WRITER_GROWTH = 3;

/** Returns the encoded bytes of a message. */
export function encode(codec: Codec<unknown>, message: unknown): Uint8Array {
  try {
    const bytes = codec.encode(message, writer).finish();
    if (bytes.length > MAX_RETAINED_BYTES) {
      writer = new BinaryWriter();
      noteBufferBytes(WRITER_GROWTH * bytes.length);
    }
    return bytes;
  } catch (error) {
    // The failed writer contains a partial message.
    writer = new BinaryWriter();
    throw error;
  }
}

/** The part of a codec that nice-grpc uses. */
interface WireCodec {
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): unknown;
}

/** Returns the contract with codecs that use the shared writer. A new writer for each message would grow in many steps. */
export function withSharedWriter({ name, fullName, methods }: Contract) {
  const wired = Object.entries(methods).map(([key, { requestType, responseType, ...method }]) => [
    key,
    { ...method, requestType: shared(requestType), responseType: shared(responseType) },
  ]);
  return { name, fullName, methods: Object.fromEntries(wired) };
}

function shared(codec: Codec<unknown>): WireCodec {
  return {
    encode(message) {
      const bytes = encode(codec, message);
      return { finish: () => bytes };
    },
    decode(bytes) {
      noteBufferBytes(bytes.length);
      return codec.decode(bytes);
    },
  };
}
