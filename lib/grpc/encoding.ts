import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { letPass } from '../garbage.ts';
import type { Codec, Contract } from './contract.ts';

/** One for all messages, as encoding is done in one go: it has room already where a new one would have to grow. */
let writer = new BinaryWriter();
/** What it may hold on to after a long message. */
const KEPT_BYTES = 2 * 1024 * 1024;

/** The bytes of a message. */
export function encode(codec: Codec<unknown>, message: unknown): Uint8Array {
  try {
    const bytes = codec.encode(message, writer).finish();
    if (bytes.length > KEPT_BYTES) writer = new BinaryWriter();
    return bytes;
  } catch (error) {
    // It still holds half a message.
    writer = new BinaryWriter();
    throw error;
  }
}

/** A codec as far as gRPC needs it. */
interface WireCodec {
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): unknown;
}

/** The same methods, whose messages are encoded here: a writer of its own for each of them would grow in many steps. */
export function economical({ name, fullName, methods }: Contract) {
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
      letPass(bytes.length);
      return codec.decode(bytes);
    },
  };
}
