import { ServerError } from 'nice-grpc';
import {
  type CallStart,
  CallsServiceDefinition,
  type ExchangeRequest,
  type ExchangeResponse,
  type ResponseFrame,
} from '../../../proto/gen/ahs/calls/v1/calls.ts';
import type { ErrorDetail } from '../../../proto/gen/ahs/common/v1/common.ts';
import { Refusal, refuse } from '../../errors.ts';
import { overloaded } from '../../overload.ts';
import { parseTraceparent } from '../../trace.ts';
import type { Method } from '../contract.ts';
import { encode, withSharedWriter } from '../encoding.ts';
import { errorDetail, internalError } from '../trailer.ts';
import { type CallHeaders, type Endpoint, MAX_MESSAGE_BYTES } from '../transport.ts';
import { FrameQueue } from './frame-queue.ts';
import {
  FRAME_BYTES,
  MAX_FRAME_BYTES,
  MAX_OPEN_CALLS,
  MAX_QUEUED_BYTES,
  MAX_RESPONSE_BYTES,
} from './limits.ts';

/** A unary method that can be called by its full name. */
interface ServedMethod {
  endpoint: Endpoint;
  name: string;
  method: Method;
}

const INVALID_ARGUMENT = 3;
/** A caller cancels its calls at their deadlines. Those of a caller that has stalled end at most this much later. */
const DEADLINE_CHECK_MS = 1_000;

interface OpenCall {
  controller: AbortController;
  /** In milliseconds of `performance.now()`. */
  deadline: number;
}

/** Serves the unary methods of endpoints over call streams (proto/ahs/calls/v1/calls.proto). */
export function createCallService(endpoints: Endpoint[], draining: AbortSignal) {
  const methods = new Map<string, ServedMethod>();
  for (const endpoint of endpoints)
    for (const [name, method] of Object.entries(endpoint.contract.methods))
      if (!method.requestStream && !method.responseStream)
        methods.set(`${endpoint.contract.fullName}/${method.name}`, { endpoint, name, method });

  async function* exchange(requests: AsyncIterable<ExchangeRequest>): AsyncGenerator<ExchangeResponse> {
    const calls = new ServedCalls(methods);
    const drain = () => calls.drain();
    if (draining.aborted) drain();
    draining.addEventListener('abort', drain, { once: true });
    const reading = calls.read(requests);
    reading.catch(() => {});
    try {
      // Tells the caller that this release knows the method. The caller sends no frame before.
      yield { frames: [] };
      for await (const frames of calls.responses) yield { frames };
      await reading;
    } finally {
      draining.removeEventListener('abort', drain);
      calls.abort();
    }
  }

  return { definition: withSharedWriter(CallsServiceDefinition), implementation: { exchange } };
}

/** The open calls of one stream. */
class ServedCalls {
  readonly responses = new FrameQueue<ResponseFrame>();
  readonly #methods: ReadonlyMap<string, ServedMethod>;
  readonly #open = new Map<number, OpenCall>();
  readonly #deadlineTimer = setInterval(() => this.#abortLate(), DEADLINE_CHECK_MS).unref();
  #isAborted = false;

  constructor(methods: ReadonlyMap<string, ServedMethod>) {
    this.#methods = methods;
  }

  /**
   * Starts calls until the caller closes its side or the stream fails. Then open calls are cancelled: a caller closes its
   * side after its last call.
   */
  async read(requests: AsyncIterable<ExchangeRequest>): Promise<void> {
    try {
      for await (const { frames } of requests) {
        if (this.#isAborted) return;
        for (const { callId, kind } of frames) {
          if (kind?.$case === 'start') this.#start(callId, kind.value);
          else if (kind?.$case === 'cancel') this.#cancel(callId);
          else this.#refuse(callId, refuse('INVALID_REQUEST', 'The frame has no known kind.'));
        }
        // A caller that does not read its responses starts no further calls.
        if (this.responses.bytes > MAX_QUEUED_BYTES) await this.responses.drained();
      }
    } finally {
      this.abort();
    }
  }

  drain(): void {
    this.responses.push({ callId: 0, kind: { $case: 'draining', value: {} } }, 0);
  }

  /** Cancels every call. */
  abort(): void {
    this.#isAborted = true;
    clearInterval(this.#deadlineTimer);
    for (const { controller } of this.#open.values()) controller.abort();
    this.#open.clear();
    this.responses.discard();
  }

  #start(callId: number, start: CallStart): void {
    if (callId === 0 || this.#open.has(callId))
      throw new ServerError(INVALID_ARGUMENT, `The call id ${callId} is already in use.`);
    if (this.#open.size >= MAX_OPEN_CALLS) this.#refuse(callId, overloaded('Too many calls are open.'));
    else this.#serve(callId, start);
  }

  #serve(callId: number, start: CallStart): void {
    const controller = new AbortController();
    const deadline = performance.now() + (start.timeoutMs ?? Number.POSITIVE_INFINITY);
    this.#open.set(callId, { controller, deadline });
    void this.#run(callId, start, controller.signal);
  }

  async #run(callId: number, start: CallStart, signal: AbortSignal): Promise<void> {
    try {
      const { endpoint, name, method } = this.#methodOf(start.method);
      const request = decodeRequest(method, start.message);
      const response = await endpoint.unary(name, request, headersOf(start), signal);
      if (!signal.aborted) this.#respond(callId, encode(method.responseType, response));
    } catch (error) {
      if (!signal.aborted) this.#refuse(callId, error instanceof Refusal ? error : internalError(error));
    } finally {
      if (this.#open.get(callId)?.controller.signal === signal) this.#open.delete(callId);
    }
  }

  #methodOf(fullName: string): ServedMethod {
    const served = this.#methods.get(fullName);
    if (!served) throw refuse('FORBIDDEN', `This process has no unary method ${fullName}.`);
    return served;
  }

  #respond(callId: number, message: Uint8Array): void {
    if (message.length > MAX_MESSAGE_BYTES)
      throw refuse('PAYLOAD_TOO_LARGE', 'The response exceeds the size limit between services.');
    if (this.responses.bytes + message.length > MAX_RESPONSE_BYTES)
      throw overloaded('Too many responses wait. The operation may have been performed.');
    const value = Buffer.from(message.buffer, message.byteOffset, message.length);
    if (value.length > MAX_FRAME_BYTES) this.responses.pushParts(partsOf(callId, value), value.length);
    else this.responses.push({ callId, kind: { $case: 'message', value } }, FRAME_BYTES + value.length);
  }

  #refuse(callId: number, refusal: Refusal): void {
    const value = errorDetail(refusal);
    this.responses.push({ callId, kind: { $case: 'error', value } }, FRAME_BYTES + lengthOf(value));
  }

  #cancel(callId: number): void {
    this.#open.get(callId)?.controller.abort();
    this.#open.delete(callId);
  }

  #abortLate(): void {
    const now = performance.now();
    for (const [callId, { deadline }] of this.#open) if (deadline <= now) this.#cancel(callId);
  }
}

function decodeRequest({ requestType }: Method, message: Uint8Array): unknown {
  try {
    return requestType.decode(message);
  } catch (cause) {
    throw refuse('INVALID_REQUEST', 'The message of the call cannot be decoded.', { cause });
  }
}

function headersOf({ serviceToken, traceparent, requestId, timeoutMs }: CallStart): CallHeaders {
  return { serviceToken, trace: parseTraceparent(traceparent), requestId, timeoutMs };
}

function lengthOf({ message, details }: ErrorDetail): number {
  return details.reduce((sum, detail) => sum + detail.pointer.length + detail.message.length, message.length);
}

function* partsOf(callId: number, message: Buffer): Generator<{ frame: ResponseFrame; bytes: number }> {
  for (let start = 0; start < message.length; start += MAX_FRAME_BYTES) {
    const value = message.subarray(start, start + MAX_FRAME_BYTES);
    const isLast = start + MAX_FRAME_BYTES >= message.length;
    yield { frame: { callId, kind: { $case: isLast ? 'message' : 'part', value } }, bytes: value.length };
  }
}
