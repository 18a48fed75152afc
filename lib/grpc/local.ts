import { Refusal, refuse } from '../errors.ts';
import { abortable } from './abortable.ts';
import type { Codec, Method } from './contract.ts';
import { encode } from './encoding.ts';
import { Relay } from './relay.ts';
import { decodeRefusal, encodeRefusal, unexpected } from './trailer.ts';
import { type Endpoint, type Headers, MAX_MESSAGE_BYTES, type Transport } from './transport.ts';
import { Upload } from './upload.ts';

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
      if (method.requestStream) return upstream(endpoint, method, name, request, headers, signal);
      try {
        const sent = copy(method.requestType, request);
        const answer = await abortable(endpoint.unary(name, sent, headers, signal), signal);
        return copy(method.responseType, answer);
      } catch (error) {
        throw throughTrailer(error);
      }
    },
    stream(name, request, headers, signal) {
      const method = methodOf(name);
      const open = () => endpoint.stream(name, copy(method.requestType, request), headers, signal);
      return new LocalStream(open, method.responseType, signal);
    },
  };
}

/** The same for a service that is opened later. Until then, calls are refused. */
export function lateTransport(find: () => Endpoint | undefined): Transport {
  let joined: Transport | undefined;
  function join(): Transport {
    if (joined) return joined;
    const endpoint = find();
    if (!endpoint) throw refuse('DEPENDENCY_UNAVAILABLE', 'the service is not open yet');
    joined = localTransport(endpoint);
    return joined;
  }
  return {
    unary: async (...call) => join().unary(...call),
    stream: (...call) => join().stream(...call),
  };
}

/** A call whose request is a stream. When that fails, the call is given up, and fails in the same way. */
async function upstream(
  endpoint: Endpoint,
  method: Method,
  name: string,
  request: unknown,
  headers: Headers,
  signal: AbortSignal,
): Promise<unknown> {
  const leaving = new AbortController();
  const both = AbortSignal.any([signal, leaving.signal]);
  const pass = (message: unknown) => copy(method.requestType, message);
  const upload = new Upload(request as AsyncIterable<unknown>, both, pass, () => leaving.abort());
  try {
    const answer = await abortable(endpoint.unary(name, upload, headers, both), both);
    return copy(method.responseType, answer);
  } catch (error) {
    throw upload.failure ? upload.failure.error : throughTrailer(error);
  } finally {
    upload.leave();
  }
}

/** What a call is answered with, message by message. */
class LocalStream extends Relay {
  readonly #codec: Codec<unknown>;
  readonly #signal: AbortSignal;

  constructor(open: () => AsyncIterable<unknown>, codec: Codec<unknown>, signal: AbortSignal) {
    super(open);
    this.#codec = codec;
    this.#signal = signal;
  }

  protected override ask(source: AsyncIterator<unknown>): Promise<IteratorResult<unknown>> {
    return abortable(source.next(), this.#signal);
  }

  protected override pass(message: unknown): unknown {
    return copy(this.#codec, message);
  }

  protected failed(error: unknown): unknown {
    return throughTrailer(error);
  }

  // Not awaited: nothing is left to hear.
  override async return(): Promise<IteratorResult<unknown>> {
    super.return().catch(() => {});
    return { done: true, value: undefined };
  }
}

/** Bytes that are long enough for copying them to be felt. */
const LONG_BYTES = 8 * 1024;
const NOTHING = Buffer.alloc(0);

/** How messages of streams carry bytes: in a member of that name, or as one of several kinds. */
interface Bearer {
  bytes?: unknown;
  kind?: { $case: string; value: unknown };
}

/** A message as the other side gets it. Long bytes are handed over as they are: whoever sends them has done with them. */
function copy(codec: Codec<unknown>, message: unknown): unknown {
  const { bytes, kind } = message as Bearer;
  if (isLong(bytes)) {
    const copied = recoded(codec, { ...(message as Bearer), bytes: NOTHING }, bytes.length) as Bearer;
    copied.bytes = bytes;
    return copied;
  }
  if (kind && isLong(kind.value)) {
    const copied = recoded(
      codec,
      { ...(message as Bearer), kind: { ...kind, value: NOTHING } },
      kind.value.length,
    ) as Bearer;
    if (copied.kind) copied.kind.value = kind.value;
    return copied;
  }
  return recoded(codec, message, 0);
}

function isLong(value: unknown): value is Buffer {
  return Buffer.isBuffer(value) && value.length >= LONG_BYTES;
}

function recoded(codec: Codec<unknown>, message: unknown, besides: number): unknown {
  const bytes = encode(codec, message);
  const length = bytes.length + besides;
  if (length > MAX_MESSAGE_BYTES) {
    throw refuse(
      'PAYLOAD_TOO_LARGE',
      `a message of ${length} bytes is over the limit of ${MAX_MESSAGE_BYTES}`,
    );
  }
  return codec.decode(bytes);
}

function throughTrailer(error: unknown): Refusal {
  return decodeRefusal(encodeRefusal(error instanceof Refusal ? error : unexpected(error)));
}
