import type { Agent, Dispatcher, RequestInit as UndiciRequestInit } from 'undici';
import type { Clock } from '../clock.ts';
import { connectChecked } from './connector.ts';
import { type Dialer, internetDialer } from './dialer.ts';
import { guarded } from './guarded-handler.ts';
import { limitedResponse } from './limited-response.ts';
import { OutboundError } from './outbound-error.ts';
import type { PrivateHost } from './private-hosts.ts';
import { REDIRECT_STATUSES, redirectedRequest } from './redirect.ts';
import { ResponseGuard, type ResponseLimits } from './response-limits.ts';
import { MAX_HEADER_BYTES, toOutboundError } from './translate-error.ts';
import { readUrl } from './url.ts';

export interface OutboundClientOptions {
  clock: Clock;
  privateHosts?: readonly PrivateHost[];
  dialer?: Dialer;
  /** Certificates that are trusted instead of the root certificates of Node. */
  ca?: string;
}

export interface FetchOptions extends Partial<ResponseLimits> {
  /**
   * Redirects to another origin are always refused. A request with `redirect: 'manual'` returns the redirect itself.
   * Default: refuse.
   */
  redirects?: 'refuse' | 'same-origin';
}

type Fetch = typeof globalThis.fetch;

const DEFAULTS: ResponseLimits = { responseBytes: 4 * 1024 ** 2, silenceMs: 60_000, totalMs: 60_000 };
const CONNECT_MS = 10_000;
const MAX_REDIRECTS = 5;
/** How long an idle connection is kept. A changed address of a name counts after that time. */
const IDLE_MS = 4_000;

/**
 * HTTP client for addresses that a user, an administrator or a remote server names. It connects to checked addresses
 * only, over https: except for private hosts, and uses no proxy of the environment. It shares connections between
 * requests of one origin.
 */
export class OutboundClient {
  readonly #options: OutboundClientOptions;
  #opened: Promise<{ agent: Agent; send: typeof import('undici').fetch }> | undefined;

  constructor(options: OutboundClientOptions) {
    this.#options = options;
  }

  /**
   * Returns a function with the contract of `fetch`. It rejects with an OutboundError, or with the reason of the
   * caller's signal. Reading the body of a response can fail in the same way.
   */
  fetchWith({ redirects = 'refuse', ...limits }: FetchOptions = {}): Fetch {
    return async (input, init = {}) => {
      const isRequest = input instanceof Request;
      const url = readUrl(isRequest ? input.url : input);
      const request = isRequest ? await requestInit(input, init) : init;
      const guard = new ResponseGuard(
        { ...DEFAULTS, ...limits },
        this.#options.clock,
        request.signal ?? undefined,
      );
      try {
        return await this.#follow(url, request, redirects, guard);
      } catch (error) {
        const reason = toOutboundError(error, guard.signal);
        guard.abort(reason);
        throw reason;
      }
    };
  }

  /** Closes all connections. Requests in progress fail. */
  async close(): Promise<void> {
    await (await this.#opened)?.agent.destroy();
  }

  async #follow(url: URL, init: RequestInit, redirects: 'refuse' | 'same-origin', guard: ResponseGuard) {
    let target = url;
    let request = init;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const response = await this.#send(target, request, guard);
      const location = REDIRECT_STATUSES.includes(response.status) ? response.headers.get('location') : null;
      if (location === null || init.redirect === 'manual') return limitedResponse(response, guard);
      await response.body?.cancel();
      if (redirects === 'refuse' || init.redirect === 'error')
        throw new OutboundError('redirect_refused', `The host ${url.hostname} answered with a redirect.`);
      const next = URL.canParse(location, target.href) ? readUrl(new URL(location, target.href)) : undefined;
      if (next?.origin !== url.origin)
        throw new OutboundError('redirect_refused', `The host ${url.hostname} redirects to another origin.`);
      target = next;
      request = redirectedRequest(request, response.status);
    }
    throw new OutboundError('redirect_refused', `The host ${url.hostname} redirects too often.`);
  }

  async #send(url: URL, init: RequestInit, guard: ResponseGuard) {
    this.#opened ??= this.#open();
    const { agent, send } = await this.#opened;
    const dispatcher = {
      dispatch: (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) =>
        agent.dispatch(options, guarded(handler, guard)),
    };
    return await send(url, {
      ...(init as UndiciRequestInit),
      redirect: 'manual',
      signal: guard.signal,
      dispatcher: dispatcher as Dispatcher,
    });
  }

  /** Loads undici at the first request. */
  async #open() {
    const { Agent, fetch: send } = await import('undici');
    const { clock, privateHosts = [], dialer = internetDialer, ca } = this.#options;
    const options = { clock, privateHosts, dialer, ca, connectMs: CONNECT_MS };
    const agent = new Agent({
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      // The guard of each request has the time limits.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect({ hostname, port, protocol }, callback) {
        const destination = {
          protocol,
          host: hostname.replace(/^\[(.*)\]$/, '$1'),
          port: Number(port || (protocol === 'https:' ? 443 : 80)),
        };
        connectChecked(destination, options).then(
          (socket) => callback(null, socket),
          (error) => callback(error, null),
        );
      },
    });
    return { agent, send };
  }
}

async function requestInit(request: Request, init: RequestInit): Promise<RequestInit> {
  const { method, headers, signal, redirect } = request;
  const body = request.body === null ? null : await request.arrayBuffer();
  return { method, headers, signal, redirect, body, ...init };
}
