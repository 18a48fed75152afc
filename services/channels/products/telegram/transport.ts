import {
  type AgentOptions,
  type ClientRequestArgs,
  Agent as HttpAgent,
  get as httpGet,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { ProductError } from '../product-error.ts';

const OFFICIAL = 'https://api.telegram.org';
/** No connection waits longer for its next byte. A long poll waits less. */
export const SILENCE_MS = 60_000;

export interface TelegramTransport {
  /** The base of all requests, without a slash at its end. */
  apiRoot: string;
  agent: HttpAgent;
}

/** Connections to the Bot API, directly or through a proxy. */
export function openTransport(apiUrl: string | undefined, proxy: string | undefined): TelegramTransport {
  const apiRoot = (apiUrl ?? OFFICIAL).replace(/\/+$/, '');
  const options: AgentOptions = {
    keepAlive: true,
    ...(proxy !== undefined && { proxyEnv: { http_proxy: proxy, https_proxy: proxy } }),
  };
  return { apiRoot, agent: apiRoot.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options) };
}

/** Sends a GET request and returns the response. Redirects are not followed: the address contains the token. */
export function getFrom(
  { apiRoot, agent }: TelegramTransport,
  path: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = apiRoot.startsWith('https:') ? httpsGet : httpGet;
  const options: ClientRequestArgs & { signal: AbortSignal } = { agent, signal, timeout: SILENCE_MS };
  return new Promise((resolve, reject) => {
    const request = send(`${apiRoot}${path}`, options, resolve);
    request.on('timeout', () =>
      request.destroy(new ProductError('unavailable', 'Telegram did not answer in time.')),
    );
    request.on('error', reject);
  });
}
