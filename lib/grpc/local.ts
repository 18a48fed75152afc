import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { Refusal, refuse } from '../errors.ts';
import { abortable } from './abortable.ts';
import type { Codec, Method } from './contract.ts';
import { decodeRefusal, encodeRefusal, unexpected } from './trailer.ts';
import { type Endpoint, MAX_MESSAGE_BYTES, type Transport } from './transport.ts';

/**
 * Joins a client to a service in the same process. Every message goes through the codec both ways
 * and every error through the trailer, so that nothing works here that would fail over the network.
 */
export function localTransport(endpoint: Endpoint): Transport {
  function methodOf(name: string): Method {
    const method = endpoint.contract.methods[name];
    if (!method) throw refuse('FORBIDDEN', `${endpoint.contract.name} has no method ${name}`);
    return method;
  }

  return {
    async unary(name, request, headers, signal) {
      const method = methodOf(name);
      try {
        const sent = copy(method.requestType, request);
        const answer = await abortable(endpoint.unary(name, sent, headers, signal), signal);
        return copy(method.responseType, answer);
      } catch (error) {
        throw throughTrailer(error);
      }
    },
    async *stream(name, request, headers, signal) {
      const method = methodOf(name);
      const messages = endpoint
        .stream(name, copy(method.requestType, request), headers, signal)
        [Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await abortable(messages.next(), signal);
          if (next.done) return;
          yield copy(method.responseType, next.value);
        }
      } catch (error) {
        throw throughTrailer(error);
      } finally {
        // Not awaited: a handler that waits for its signal ends by itself, and the reader has already left.
        messages.return?.(undefined).catch(() => {});
      }
    },
  };
}

/** One for all messages, as encoding is done in one go: it has room already where a new one would have to grow. */
let writer = new BinaryWriter();
/** What it may hold on to after a long message. */
const KEPT_BYTES = 1024 * 1024;

function copy(codec: Codec<unknown>, message: unknown): unknown {
  const bytes = encode(codec, message);
  if (bytes.length > MAX_MESSAGE_BYTES) {
    throw refuse(
      'PAYLOAD_TOO_LARGE',
      `a message of ${bytes.length} bytes is over the limit of ${MAX_MESSAGE_BYTES}`,
    );
  }
  return codec.decode(bytes);
}

function encode(codec: Codec<unknown>, message: unknown): Uint8Array {
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

function throughTrailer(error: unknown): Refusal {
  return decodeRefusal(encodeRefusal(error instanceof Refusal ? error : unexpected(error)));
}
