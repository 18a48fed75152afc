import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { noteBufferBytes } from '../garbage-collection.ts';
import type { Codec, Contract } from './contract.ts';

/** A writer whose buffer has grown to this is kept. Longer messages are encoded into a buffer of their own. */
const MAX_RETAINED_BYTES = 2 * 1024 * 1024;

/** BinaryWriter with the members that its declaration makes private. */
declare class WriterMembers {
  buffer: Uint8Array<ArrayBuffer>;
  pos: number;
  /** Called before every write with the largest number of bytes that it can add. */
  ensureCapacity(size: number): void;
  uint32(value: number): unknown;
  raw(chunk: Uint8Array): unknown;
  string(value: string): unknown;
  float(value: number): unknown;
  double(value: number): unknown;
  fixed32(value: number): unknown;
  sfixed32(value: number): unknown;
  fixed64(value: bigint | number | string): unknown;
  sfixed64(value: bigint | number | string): unknown;
}

const OpenWriter = BinaryWriter as unknown as typeof WriterMembers;

const TOO_LONG = Symbol('too long');

/** A writer that throws TOO_LONG instead of growing beyond MAX_RETAINED_BYTES. */
class SharedWriter extends OpenWriter {
  override ensureCapacity(size: number): void {
    const required = this.pos + size;
    if (required <= this.buffer.length) return;
    if (required > MAX_RETAINED_BYTES) throw TOO_LONG;
    super.ensureCapacity(size);
  }
}

/** A writer that only counts: its buffer is empty, and typed arrays ignore writes beyond their end. */
class LengthWriter extends OpenWriter {
  override ensureCapacity(): void {}

  override raw(chunk: Uint8Array) {
    return this.#skip(chunk.length);
  }

  override string(value: string) {
    const length = Buffer.byteLength(value);
    this.uint32(length);
    return this.#skip(length);
  }

  override float() {
    return this.#skip(4);
  }

  override double() {
    return this.#skip(8);
  }

  override fixed32() {
    return this.#skip(4);
  }

  override sfixed32() {
    return this.#skip(4);
  }

  override fixed64() {
    return this.#skip(8);
  }

  override sfixed64() {
    return this.#skip(8);
  }

  #skip(length: number): this {
    this.pos += length;
    return this;
  }
}

/** A writer for a message of known length, which neither grows nor copies its buffer. */
class ExactWriter extends OpenWriter {
  constructor(length: number) {
    super();
    this.buffer = new Uint8Array(length);
  }

  override ensureCapacity(): void {}
}

const asWriter = (writer: WriterMembers) => writer as unknown as BinaryWriter;

/** Shared by all messages, because encoding is synchronous. Its buffer is already large; a new writer would grow in steps. */
let shared = new SharedWriter();

/** Returns the encoded bytes of a message. */
export function encode(codec: Codec<unknown>, message: unknown): Uint8Array<ArrayBuffer> {
  return encodeShared(codec, message) ?? encodeLong(codec, message);
}

/** Returns the encoded bytes of a message of at most `limit` bytes; undefined for a longer one. */
export function encodeShort(
  codec: Codec<unknown>,
  message: unknown,
  limit: number,
): Uint8Array<ArrayBuffer> | undefined {
  const bytes = encodeShared(codec, message);
  return bytes && bytes.length <= limit ? bytes : undefined;
}

/** Returns undefined for a message that may be longer than the shared writer's buffer. */
function encodeShared(codec: Codec<unknown>, message: unknown): Uint8Array<ArrayBuffer> | undefined {
  try {
    return codec.encode(message, asWriter(shared)).finish() as Uint8Array<ArrayBuffer>;
  } catch (error) {
    // The failed writer contains a partial message.
    shared = new SharedWriter();
    if (error === TOO_LONG) return undefined;
    throw error;
  }
}

/** Encodes a message with one allocation, of exactly its length. A growing buffer would be twice in memory, twice as long. */
function encodeLong(codec: Codec<unknown>, message: unknown): Uint8Array<ArrayBuffer> {
  const counter = new LengthWriter();
  codec.encode(message, asWriter(counter));
  const writer = new ExactWriter(counter.pos);
  codec.encode(message, asWriter(writer));
  return writer.buffer;
}

/** The part of a codec that nice-grpc uses. */
interface WireCodec {
  encode(message: unknown): { finish(): Uint8Array | ArrayBuffer };
  decode(bytes: Uint8Array): unknown;
}

/** Returns the contract with codecs that use the shared writer. A new writer for each message would grow in many steps. */
export function withSharedWriter({ name, fullName, methods }: Contract) {
  const wired = Object.entries(methods).map(([key, { requestType, responseType, ...method }]) => [
    key,
    { ...method, requestType: wireCodec(requestType), responseType: wireCodec(responseType) },
  ]);
  return { name, fullName, methods: Object.fromEntries(wired) };
}

function wireCodec(codec: Codec<unknown>): WireCodec {
  return {
    encode(message) {
      const bytes = encode(codec, message);
      // nice-grpc passes the result to Buffer.from, which copies a typed array but not an ArrayBuffer.
      return { finish: () => (bytes.length > MAX_RETAINED_BYTES ? bytes.buffer : bytes) };
    },
    decode(bytes) {
      noteBufferBytes(bytes.length);
      return codec.decode(bytes);
    },
  };
}
