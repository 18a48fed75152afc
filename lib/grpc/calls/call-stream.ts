import type {
  CallStart,
  ExchangeRequest,
  ExchangeResponse,
  RequestFrame,
  ResponseFrame,
} from '../../../proto/gen/ahs/calls/v1/calls.ts';
import { type Refusal, refuse } from '../../errors.ts';
import { overloaded } from '../../overload.ts';
import { refusalOf } from '../trailer.ts';
import { MAX_MESSAGE_BYTES } from '../transport.ts';
import { FrameQueue, type WaitingFrame } from './frame-queue.ts';
import { FRAME_BYTES, MAX_OPEN_CALLS, MAX_QUEUED_BYTES, MAX_RESPONSE_BYTES } from './limits.ts';

/** The end of a stream before the end of its calls. */
export class StreamFailure extends Error {
  /** False when the service cannot have received the call. */
  readonly isSent: boolean;

  constructor(isSent: boolean, cause: unknown) {
    super('The stream to the service ended.', { cause });
    this.isSent = isSent;
  }
}

interface CallStreamOptions {
  open(requests: AsyncIterable<ExchangeRequest>, signal: AbortSignal): AsyncIterable<ExchangeResponse>;
  /** The service stops: it accepts no new calls. */
  onDraining: () => void;
  /** The stream has ended. `error` is undefined when it was closed. */
  onEnd: (error: unknown) => void;
}

interface OpenCall {
  resolve: (message: Buffer) => void;
  reject: (error: unknown) => void;
  startFrame: WaitingFrame<RequestFrame>;
  /** The received parts of a long response. */
  parts: Buffer[];
  partBytes: number;
  signal: AbortSignal;
  cancel: () => void;
}

const MAX_CALL_ID = 2 ** 32 - 1;

/** The caller's side of a stream of calls. No frame is sent before the service has accepted the stream. */
export class CallStream {
  readonly #options: CallStreamOptions;
  readonly #requests = new FrameQueue<RequestFrame>({ isHeld: true });
  readonly #calls = new Map<number, OpenCall>();
  readonly #abort = new AbortController();
  /** The bytes of the parts of all calls. */
  #partBytes = 0;
  #lastCallId = 0;
  #isAccepted = false;
  #isClosed = false;

  constructor(options: CallStreamOptions) {
    this.#options = options;
    this.#read().then(
      () => this.#end(undefined),
      (error: unknown) => this.#end(error),
    );
  }

  get openCalls(): number {
    return this.#calls.size;
  }

  /** Rejects with the refusal of the service, with CANCELLED when the signal aborts, and with `StreamFailure`. */
  call(start: CallStart, signal: AbortSignal): Promise<Buffer> {
    if (this.#calls.size >= MAX_OPEN_CALLS || this.#requests.bytes > MAX_QUEUED_BYTES)
      throw overloaded('Too many calls wait for the service.');
    if (signal.aborted) throw cancelled();
    return new Promise((resolve, reject) => {
      const callId = this.#nextCallId();
      const bytes = start.message.length + FRAME_BYTES;
      const cancel = () => {
        this.#cancel(callId);
        reject(cancelled());
      };
      signal.addEventListener('abort', cancel, { once: true });
      const startFrame = this.#requests.push({ callId, kind: { $case: 'start', value: start } }, bytes);
      this.#calls.set(callId, { resolve, reject, startFrame, parts: [], partBytes: 0, signal, cancel });
    });
  }

  /** Closes the stream after its open calls. */
  close(): void {
    this.#isClosed = true;
    if (this.#calls.size === 0) this.#requests.end();
  }

  /** Ends the stream at once. Open calls fail. */
  destroy(): void {
    this.#abort.abort();
  }

  async #read(): Promise<void> {
    const { open, onDraining } = this.#options;
    for await (const { frames } of open(requestsOf(this.#requests), this.#abort.signal)) {
      this.#accept();
      for (const frame of frames)
        if (frame.kind?.$case === 'draining') onDraining();
        else this.#receive(frame);
    }
  }

  #accept(): void {
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    this.#requests.release();
  }

  /** Frames of cancelled calls are ignored. */
  #receive({ callId, kind }: ResponseFrame): void {
    const call = this.#calls.get(callId);
    if (!call) return;
    if (kind?.$case === 'part') {
      this.#addPart(callId, call, kind.value);
      return;
    }
    this.#remove(callId);
    if (kind?.$case === 'message')
      call.resolve(call.parts.length === 0 ? kind.value : Buffer.concat([...call.parts, kind.value]));
    else if (kind?.$case === 'error') call.reject(refusalOf(kind.value));
    else call.reject(refuse('INTERNAL', 'The service sent a frame of an unknown kind.'));
  }

  #addPart(callId: number, call: OpenCall, part: Buffer): void {
    call.parts.push(part);
    call.partBytes += part.length;
    this.#partBytes += part.length;
    const isTooLong = call.partBytes > MAX_MESSAGE_BYTES;
    if (!isTooLong && this.#partBytes <= MAX_RESPONSE_BYTES) return;
    this.#cancel(callId);
    call.reject(isTooLong ? tooLong() : overloaded('Too many long responses arrive at the same time.'));
  }

  /** The service does not learn of a call that has not been sent. */
  #cancel(callId: number): void {
    const call = this.#calls.get(callId);
    this.#remove(callId);
    if (call && !this.#requests.withdraw(call.startFrame))
      this.#requests.push({ callId, kind: { $case: 'cancel', value: {} } }, 0);
  }

  #remove(callId: number): void {
    const call = this.#calls.get(callId);
    if (!call) return;
    this.#calls.delete(callId);
    this.#partBytes -= call.partBytes;
    call.signal.removeEventListener('abort', call.cancel);
    if (this.#isClosed && this.#calls.size === 0) this.#requests.end();
  }

  #end(error: unknown): void {
    this.#requests.discard();
    const calls = [...this.#calls.values()];
    for (const callId of [...this.#calls.keys()]) this.#remove(callId);
    this.#options.onEnd(error);
    for (const { reject } of calls) reject(new StreamFailure(this.#isAccepted, error));
  }

  #nextCallId(): number {
    do this.#lastCallId = this.#lastCallId === MAX_CALL_ID ? 1 : this.#lastCallId + 1;
    while (this.#calls.has(this.#lastCallId));
    return this.#lastCallId;
  }
}

async function* requestsOf(groups: AsyncIterable<RequestFrame[]>): AsyncGenerator<ExchangeRequest> {
  for await (const frames of groups) yield { frames };
}

function cancelled() {
  return refuse('CANCELLED', 'The caller disconnected before the response.');
}

function tooLong(): Refusal {
  return refuse('PAYLOAD_TOO_LARGE', 'The response exceeds the size limit between services.');
}
