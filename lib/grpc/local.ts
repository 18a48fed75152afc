import { Refusal, refuse } from '../errors.ts';
import type { ItemReceiver } from '../item-receiver.ts';
import { abortable, disconnected } from './abortable.ts';
import type { Codec, Method } from './contract.ts';
import { encode } from './encoding.ts';
import { RequestStream } from './request-stream.ts';
import { StreamRelay } from './stream-relay.ts';
import { decodeRefusal, encodeRefusal, internalError } from './trailer.ts';
import { type CallHeaders, type Endpoint, MAX_MESSAGE_BYTES, type Transport } from './transport.ts';

/**
 * Connects a client to a service in the same process. Every message is encoded and decoded and every error passes
 * through the trailer, so that a call that works here also works over the network.
 */
export function localTransport(endpoint: Endpoint): Transport {
  function methodOf(name: string): Method {
    const method = endpoint.contract.methods[name];
    if (!method) throw refuse('FORBIDDEN', `${endpoint.contract.name} has no method ${name}.`);
    return method;
  }

  return {
    async unary(name, request, headers, signal) {
      const method = methodOf(name);
      if (method.requestStream)
        return callWithRequestStream(endpoint, method, name, request, headers, signal);
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

/** A local transport to a service that opens later. Until then, calls are refused with DEPENDENCY_UNAVAILABLE. */
export function deferredTransport(find: () => Endpoint | undefined): Transport {
  let connected: Transport | undefined;
  function connect(): Transport {
    if (connected) return connected;
    const endpoint = find();
    if (!endpoint) throw refuse('DEPENDENCY_UNAVAILABLE', 'The service is not open yet.');
    connected = localTransport(endpoint);
    return connected;
  }
  return {
    unary: async (...call) => connect().unary(...call),
    stream: (...call) => connect().stream(...call),
  };
}

/** A call with a request stream. When the request stream fails, the call is cancelled and rejects with that error. */
async function callWithRequestStream(
  endpoint: Endpoint,
  method: Method,
  name: string,
  request: unknown,
  headers: CallHeaders,
  signal: AbortSignal,
): Promise<unknown> {
  const requestFailed = new AbortController();
  const either = AbortSignal.any([signal, requestFailed.signal]);
  const recodeMessage = (message: unknown) => copy(method.requestType, message);
  const requestStream = new RequestStream(request as AsyncIterable<unknown>, either, recodeMessage, () =>
    requestFailed.abort(),
  );
  try {
    const answer = await abortable(endpoint.unary(name, requestStream, headers, either), either);
    return copy(method.responseType, answer);
  } catch (error) {
    throw requestStream.failure ? requestStream.failure.error : throughTrailer(error);
  } finally {
    requestStream.close();
  }
}

/**
 * The response stream of a local call. It listens to the signal itself, once, because the closures of `abortable` would be a
 * noticeable part of an idle stream.
 */
class LocalStream extends StreamRelay {
  readonly #codec: Codec<unknown>;
  readonly #signal: AbortSignal;
  #isListening = false;

  constructor(open: () => AsyncIterable<unknown>, codec: Codec<unknown>, signal: AbortSignal) {
    super(open);
    this.#codec = codec;
    this.#signal = signal;
  }

  override nextTo(receiver: ItemReceiver<unknown>): void {
    if (!this.#isListening) this.#signal.addEventListener('abort', this);
    this.#isListening = true;
    super.nextTo(receiver);
    if (this.#signal.aborted) this.handleEvent();
  }

  /** Called when the signal aborts. */
  handleEvent(): void {
    this.fail(disconnected());
  }

  protected override onEnd(): void {
    this.#stopListening();
  }

  protected override onReturn(): void {
    this.#stopListening();
  }

  #stopListening(): void {
    this.#signal.removeEventListener('abort', this);
  }

  protected override mapItem(message: unknown): unknown {
    return copy(this.#codec, message);
  }

  protected mapError(error: unknown): unknown {
    this.#stopListening();
    return throughTrailer(error);
  }

  // Not awaited, because the reader needs no further result.
  override async return(): Promise<IteratorResult<unknown>> {
    super.return().catch(() => {});
    return { done: true, value: undefined };
  }
}

/** Buffers from this length on are passed without a copy. */
const LONG_BYTES = 8 * 1024;
const EMPTY_BYTES = Buffer.alloc(0);

/** The two forms in which stream messages carry bytes: in a member `bytes`, or as the value of the oneof `kind`. */
interface BytesMessage {
  bytes?: unknown;
  kind?: { $case: string; value: unknown };
}

/** Returns the message as the receiver decodes it. Long buffers are passed without a copy; the sender must not modify them. */
function copy(codec: Codec<unknown>, message: unknown): unknown {
  const { bytes, kind } = message as BytesMessage;
  if (isLong(bytes)) {
    const copied = recode(
      codec,
      { ...(message as BytesMessage), bytes: EMPTY_BYTES },
      bytes.length,
    ) as BytesMessage;
    copied.bytes = bytes;
    return copied;
  }
  if (kind && isLong(kind.value)) {
    const copied = recode(
      codec,
      { ...(message as BytesMessage), kind: { ...kind, value: EMPTY_BYTES } },
      kind.value.length,
    ) as BytesMessage;
    if (copied.kind) copied.kind.value = kind.value;
    return copied;
  }
  return recode(codec, message, 0);
}

function isLong(value: unknown): value is Buffer {
  return Buffer.isBuffer(value) && value.length >= LONG_BYTES;
}

function recode(codec: Codec<unknown>, message: unknown, extraBytes: number): unknown {
  const bytes = encode(codec, message);
  const length = bytes.length + extraBytes;
  if (length > MAX_MESSAGE_BYTES) {
    throw refuse(
      'PAYLOAD_TOO_LARGE',
      `A message of ${length} bytes exceeds the limit of ${MAX_MESSAGE_BYTES} bytes.`,
    );
  }
  return codec.decode(bytes);
}

function throughTrailer(error: unknown): Refusal {
  return decodeRefusal(encodeRefusal(error instanceof Refusal ? error : internalError(error)));
}
