import { SocketModeClient } from '@slack/socket-mode';
import { type Logger, LogLevel, WebClient, type WebClientOptions } from '@slack/web-api';
import type { OperatorTransport } from '../../../../lib/outbound/operator-transport.ts';
import type { Secret } from '../../../../lib/secret.ts';
import { ProductError } from '../product-error.ts';
import { toProductError } from './errors.ts';

const CALL_MS = 30_000;
/** A connection without a pong for this long is lost. The library pings three times as often. */
const PONG_MS = 20_000;
const SERVER_PING_MS = 60_000;

/** The library logs bodies and tokens of requests. */
const SILENT: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
};

export interface WebApiOptions {
  /** With a slash at its end. */
  apiUrl: string;
  transport: Pick<OperatorTransport, 'fetch'>;
}

/** Calls of the Web API with one token. Each call is sent once. */
export class WebApi {
  readonly #token: Secret;
  readonly #options: WebApiOptions;

  constructor(token: Secret | undefined, options: WebApiOptions) {
    if (!token) throw new ProductError('unauthorized', 'A credential of the channel is missing.');
    this.#token = token;
    this.#options = options;
  }

  /** Throws ProductError, or the reason of the signal. `creates`: see `toProductError`. */
  async call<Result>(
    method: (client: WebClient) => Promise<Result>,
    signal: AbortSignal,
    { creates = false } = {},
  ): Promise<Result> {
    try {
      // The library has no signals for calls, so each call has a client. A client is a few closures.
      return await method(new WebClient(this.#token.reveal(), this.#clientOptions(signal)));
    } catch (error) {
      signal.throwIfAborted();
      throw toProductError(error, { creates });
    }
  }

  /** The header for files of Slack. */
  authorization(): { authorization: string } {
    return { authorization: `Bearer ${this.#token.reveal()}` };
  }

  /** Returns the client of one WebSocket. It does not connect again. The token is the app-level one. */
  socketClient(transport: OperatorTransport, signal: AbortSignal): SocketModeClient {
    return new SocketModeClient({
      appToken: this.#token.reveal(),
      autoReconnectEnabled: false,
      clientPingTimeout: PONG_MS,
      serverPingTimeout: SERVER_PING_MS,
      logger: SILENT,
      dispatcher: transport.dispatcher,
      clientOptions: this.#clientOptions(signal),
    });
  }

  #clientOptions(signal: AbortSignal) {
    const { apiUrl, transport } = this.#options;
    return {
      slackApiUrl: apiUrl,
      allowAbsoluteUrls: false,
      logger: SILENT,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      fetch: (url, init = {}) => {
        const signals = [signal, AbortSignal.timeout(CALL_MS), ...(init.signal ? [init.signal] : [])];
        return transport.fetch(url, { ...init, signal: AbortSignal.any(signals) });
      },
    } satisfies WebClientOptions;
  }
}
