import { McpError } from './mcp-error.ts';

export interface ExchangeOptions {
  /** Aborts the requests. Absent: the SDK aborts them. */
  signal: AbortSignal | undefined;
  /** Limit of the bytes of all responses. Absent: that of the connection. */
  maxBytes?: number | undefined;
  /** Limit of the JSON values in all responses, counted by their separators, also those in texts. Absent: none. */
  maxValues?: number | undefined;
  /** Called when a response failed or a stream of events ended, which the SDK can ignore. */
  onBroken(exchange: Exchange, failure: unknown): void;
}

/** Without a reason, each abort would make an error with a stack. */
const ENDED = 'the exchange has ended';
const MAX_CHALLENGE_BYTES = 4 * 1024;
/** How often the response of an exchange is resumed after its stream broke. */
const MAX_RESUMPTIONS = 2;

/** What the requests and responses of one exchange with a server have in common. The SDK hides most of it. */
export class Exchange {
  readonly signal: AbortSignal | undefined;
  readonly maxBytes: number | undefined;
  readonly maxValues: number | undefined;
  readonly #onBroken: ExchangeOptions['onBroken'];
  readonly #ended = new AbortController();
  /** The bytes of all responses. */
  received = 0;
  /** The JSON values of all responses, if they are limited. */
  values = 0;
  /** The first failure. */
  failure: unknown;
  /** The HTTP status of the last response to a message. */
  status: number | undefined;
  /** The challenge of that response, if it has status 401 or 403. */
  challenge = '';
  /** Whether the server does not know the session of the last message, which it has ignored. */
  isSessionLost = false;
  resumptions = 0;

  constructor({ signal, maxBytes, maxValues, onBroken }: ExchangeOptions) {
    this.signal = signal;
    this.maxBytes = maxBytes;
    this.maxValues = maxValues;
    this.#onBroken = onBroken;
  }

  /** Aborts at the end of the exchange, when its responses are no longer needed. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  end(): void {
    this.#ended.abort(ENDED);
  }

  noteFailure(failure: unknown): void {
    this.failure ??= failure;
  }

  /** Notes the response to a message. */
  noteResponse({ status, headers }: Response, { hasSession }: { hasSession: boolean }): void {
    const isRefused = status === 401 || status === 403;
    this.status = status;
    this.challenge = isRefused ? withinLimit(headers.get('www-authenticate') ?? '') : '';
    this.isSessionLost = hasSession && status === 404;
    if (isRefused)
      this.noteFailure(new McpError('unauthorized', `The server refused the request with status ${status}.`));
  }

  broken(failure: unknown): void {
    if (failure !== undefined) this.noteFailure(failure);
    this.#onBroken(this, failure);
  }

  /** Returns whether the response is resumed. If it is, its failure no longer counts. */
  resume(): boolean {
    if (this.ended.aborted || this.resumptions === MAX_RESUMPTIONS) return false;
    this.resumptions++;
    this.failure = undefined;
    return true;
  }
}

/** A challenge that is too long is left out, because its meaning can change when it is cut. */
function withinLimit(challenge: string): string {
  return Buffer.byteLength(challenge) <= MAX_CHALLENGE_BYTES ? challenge : '';
}
