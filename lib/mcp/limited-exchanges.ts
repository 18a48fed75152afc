import type { Clock } from '../clock.ts';
import type { Exchange } from './exchange.ts';
import type { LimitedFetch } from './limited-fetch.ts';
import { errorOfRequest, McpError } from './mcp-error.ts';

interface ExchangeLimits {
  caller: AbortSignal | undefined;
  /** Whether the requests end with the signal. Otherwise the SDK ends them. */
  endsRequests: boolean;
  maxBytes?: number;
  maxValues?: number;
}

/** Progress prolongs an exchange up to this time. */
export const MAX_EXCHANGE_MS = 600_000;

interface LimitedExchangesOptions {
  fetch: LimitedFetch;
  clock: Clock;
  /** Limit of silence, and of an exchange without progress. */
  timeoutSeconds: number;
}

/** The exchanges of one connection, each within its time limits. */
export class LimitedExchanges {
  readonly #options: LimitedExchangesOptions;

  constructor(options: LimitedExchangesOptions) {
    this.#options = options;
  }

  /** Runs an exchange. Throws McpError with the cause of a failure, or the reason of the caller's signal. */
  async run<Result>(
    { caller, endsRequests, ...limits }: ExchangeLimits,
    run: (signal: AbortSignal, prolong: () => void, exchange: Exchange) => Promise<Result>,
  ): Promise<Result> {
    caller?.throwIfAborted();
    const limit = new AbortController();
    const { fetch, clock, timeoutSeconds } = this.#options;
    const timeOut = (seconds: number) => () =>
      limit.abort(new McpError('timed_out', `The server did not answer within ${seconds} s.`));
    const cancelTotal = clock.after(MAX_EXCHANGE_MS, timeOut(MAX_EXCHANGE_MS / 1_000));
    let cancelSilence = () => {};
    const prolong = () => {
      cancelSilence();
      cancelSilence = clock.after(timeoutSeconds * 1_000, timeOut(timeoutSeconds));
    };
    prolong();
    const { signal } = limit;
    const onAbort = () => limit.abort(caller?.reason);
    caller?.addEventListener('abort', onAbort, { once: true });
    const options = {
      ...limits,
      signal: endsRequests ? signal : undefined,
      // The SDK waits on when a response was cut.
      onBroken: (exchange: Exchange, failure: unknown) => {
        if (failure !== undefined || !endsRequests) this.#endSoon(limit, exchange, failure);
      },
    };
    try {
      return await fetch.exchange(options, async (exchange) => {
        try {
          return await untilAborted(run(signal, prolong, exchange), signal);
        } catch (error) {
          signal.throwIfAborted();
          throw failureOf(exchange, error);
        }
      });
    } finally {
      caller?.removeEventListener('abort', onAbort);
      cancelTotal();
      cancelSilence();
    }
  }

  /** Ends an exchange whose response ended, unless the SDK completes it with what it received, or resumes it. */
  #endSoon(limit: AbortController, exchange: Exchange, failure: unknown): void {
    const { resumptions, failure: first } = exchange;
    const reason =
      errorOfRequest(failure ?? first) ??
      new McpError('unreachable', 'The server ended its response without a result.');
    setImmediate(() => {
      if (exchange.resumptions === resumptions) limit.abort(reason);
    });
  }
}

function failureOf(exchange: Exchange, error: unknown): McpError {
  const failure = errorOfRequest(exchange.failure) ?? errorOfRequest(error) ?? invalid();
  failure.httpStatus = exchange.status;
  failure.challenge = exchange.challenge;
  failure.isSessionLost = exchange.isSessionLost;
  return failure;
}

const invalid = () => new McpError('invalid_response', 'The server did not answer as the protocol requires.');

function untilAborted<Result>(exchange: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([exchange, promise]).finally(() => signal.removeEventListener('abort', onAbort));
}
