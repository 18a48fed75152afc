import { AsyncLocalStorage } from 'node:async_hooks';
import type { OutboundClient } from '../outbound/outbound-client.ts';
import { Exchange, type ExchangeOptions } from './exchange.ts';
import { McpError } from './mcp-error.ts';

const MIB = 1024 * 1024;
/** Limit of a JSON response and of one event of a stream. */
const MAX_MESSAGE_BYTES = 4 * MIB;
const MESSAGE_LIMIT = 'A message of the server has more than 4 MiB.';

type Fetch = typeof globalThis.fetch;

/** Headers with a credential by name, or a function that returns those that count now. */
export type CredentialHeaders =
  | Readonly<Record<string, string>>
  | (() => Promise<Readonly<Record<string, string>>>);

export interface LimitedFetchOptions {
  outbound: OutboundClient;
  /** Requests to other origins are refused, because they would carry the credential. */
  url: URL;
  headers: CredentialHeaders | undefined;
  /** Limit of all responses of an exchange. */
  maxBytes: number;
  /** Time limit of a request in milliseconds. */
  totalMs: number;
}

/** The `fetch` of one connection. The SDK hides why a request failed; its exchange tells it. */
export class LimitedFetch {
  readonly #options: LimitedFetchOptions;
  readonly #send: Fetch;
  /** The SDK does not tell which exchange a request belongs to. */
  readonly #exchanges = new AsyncLocalStorage<Exchange>();
  /** Those that have not ended. */
  readonly #active = new Set<Exchange>();

  constructor(options: LimitedFetchOptions) {
    this.#options = options;
    const { outbound, maxBytes, totalMs } = options;
    this.#send = outbound.fetchWith({ responseBytes: maxBytes, silenceMs: totalMs, totalMs });
  }

  /** Runs an exchange. Its requests are those that `run` sends. */
  async exchange<Result>(
    options: ExchangeOptions,
    run: (exchange: Exchange) => Promise<Result>,
  ): Promise<Result> {
    const exchange = new Exchange(options);
    this.#active.add(exchange);
    try {
      return await this.#exchanges.run(exchange, () => run(exchange));
    } finally {
      this.#active.delete(exchange);
      exchange.end();
    }
  }

  /** The exchange of the code that runs. Undefined after its end. */
  get current(): Exchange | undefined {
    const exchange = this.#exchanges.getStore();
    return exchange?.ended.aborted ? undefined : exchange;
  }

  readonly fetch: Fetch = async (input, init) => {
    const exchange = this.current;
    const url = new URL(input instanceof Request ? input.url : input);
    const given = init?.headers;
    const sdkHeaders = given instanceof Headers ? given : new Headers(given);
    const isResumption = sdkHeaders.has('last-event-id');
    try {
      if (url.origin !== this.#options.url.origin)
        throw new McpError('redirected', 'The server names an address of another origin.');
      if (isOptionalStream(init?.method, sdkHeaders)) return new Response(null, { status: 405 });
      const headers = await this.#withCredential(sdkHeaders);
      const signal = eitherOf(init?.signal ?? undefined, exchange?.signal) ?? null;
      const response = await this.#send(url, { ...init, headers, signal });
      if (!isResumption) exchange?.noteResponse(response, { hasSession: sdkHeaders.has('mcp-session-id') });
      // The stream of the transport `sse` begins with the connection and serves all later exchanges.
      const isLasting = (init?.method ?? 'GET') === 'GET' && !isResumption;
      return this.#limited(response, exchange, isLasting);
    } catch (error) {
      exchange?.noteFailure(error);
      throw error;
    }
  };

  async #withCredential(sdkHeaders: Headers): Promise<Headers> {
    const { headers = {} } = this.#options;
    const credential = typeof headers === 'function' ? await headers().catch(throwUnavailable) : headers;
    const all = new Headers(sdkHeaders);
    for (const [name, value] of Object.entries(credential)) if (!all.has(name)) all.set(name, value);
    return all;
  }

  /** Ends the exchanges whose responses a lasting stream would bring. */
  #breakAll(failure: unknown): void {
    for (const exchange of this.#active) exchange.broken(failure);
  }

  #limited(response: Response, exchange: Exchange | undefined, isLasting: boolean): Response {
    const { body, status, statusText, headers } = response;
    if (!body || !exchange) return response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream');
    const counter = isStream ? new EventCounter() : new MessageCounter();
    const { maxBytes = this.#options.maxBytes, maxValues } = exchange;
    const check = (chunk: Uint8Array) => {
      exchange.received += chunk.length;
      if (maxValues !== undefined) {
        exchange.values += countValues(chunk);
        if (exchange.values > maxValues)
          throw new McpError('too_large', `The server sent more than ${maxValues} JSON values.`);
      }
      const isOverTotal = exchange.received > maxBytes;
      if (!isOverTotal && counter.add(chunk) <= MAX_MESSAGE_BYTES) return;
      const total = `The server sent more than ${maxBytes / MIB} MiB.`;
      throw new McpError('too_large', isOverTotal ? total : MESSAGE_LIMIT);
    };
    const ended = isStream && !isLasting ? exchange.ended : undefined;
    // Reading the body can fail after `fetch` has returned.
    const reader = watched(body, { ended, check }, (failure) => {
      if (isStream && isLasting) this.#breakAll(failure ?? streamEnded());
      else if (failure !== undefined || isStream) exchange.broken(failure);
    });
    return new Response(reader, { status, statusText, headers });
  }
}

function streamEnded(): McpError {
  return new McpError('unreachable', 'The server ended the stream of its responses.');
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

function throwUnavailable(): never {
  const error = new McpError('unreachable', 'The credential is not available now.');
  error.nothingSent = true;
  throw error;
}

/** The stream for messages of the server outside of calls, which this client does not use. A resumed stream is needed. */
function isOptionalStream(method: string | undefined, headers: Headers): boolean {
  return method === 'GET' && headers.has('mcp-protocol-version') && !headers.has('last-event-id');
}

function countValues(chunk: Uint8Array): number {
  let count = 0;
  for (const byte of chunk) if (byte === COMMA || byte === BRACKET || byte === BRACE) count++;
  return count;
}

const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

class MessageCounter {
  #bytes = 0;

  /** Returns the bytes of the message so far. */
  add(chunk: Uint8Array): number {
    this.#bytes += chunk.length;
    return this.#bytes;
  }
}

/** Counts the bytes since the last empty line, which ends an event. */
class EventCounter {
  #bytes = 0;
  #isAtLineStart = true;

  /** Returns the largest event that the chunk belongs to, as far as it was received. */
  add(chunk: Uint8Array): number {
    let largest = this.#bytes;
    for (const byte of chunk) {
      if (byte === CR) continue;
      this.#bytes = byte === LF && this.#isAtLineStart ? 0 : this.#bytes + 1;
      this.#isAtLineStart = byte === LF;
      if (this.#bytes > largest) largest = this.#bytes;
    }
    return largest;
  }
}

const CR = 13;
const LF = 10;

interface Watch {
  ended: AbortSignal | undefined;
  /** Throws for a chunk that exceeds a limit. */
  check(chunk: Uint8Array): void;
}

/** Reads a body until its end, until `ended` aborts, or until `check` throws. */
function watched(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { ended, check }: Watch,
  onEnd: (failure: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  ended?.addEventListener('abort', cancel, { once: true });
  const end = (failure: unknown) => {
    ended?.removeEventListener('abort', cancel);
    onEnd(failure);
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (value) {
            check(value);
            controller.enqueue(value);
          }
          if (done) {
            controller.close();
            end(undefined);
          }
        } catch (error) {
          end(error);
          controller.error(error);
          cancel();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
