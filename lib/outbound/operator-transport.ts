import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { http } from '../http.ts';

export interface OperatorTransportOptions {
  /** The URL of an HTTP proxy, with its credentials if it needs them. */
  proxy: string | undefined;
}

/** Connections to hosts that the operator sets or that belong to a known product. Their addresses are not checked. */
export interface OperatorTransport {
  /** Has the contract of `fetch`. */
  fetch: typeof globalThis.fetch;
  /** The dispatcher for other clients of undici, such as WebSocket clients. */
  dispatcher: Dispatcher;
  /** Ends all connections at once, also those that became WebSockets. */
  destroy(): Promise<void>;
}

const CONNECT_MS = 10_000;

/** Opens no connection before the first request. Environment variables for proxies have no effect. */
export async function openOperatorTransport({ proxy }: OperatorTransportOptions): Promise<OperatorTransport> {
  const { Agent, buildConnector, fetch: send } = await import('undici');
  const sockets = new Set<Socket>();
  const dial = buildConnector({ allowH2: false, timeout: CONNECT_MS });
  const agent = new Agent({
    allowH2: false,
    connect(options, callback) {
      const taken: typeof callback = (...[error, socket]) => {
        if (!socket) return callback(error ?? new Error('no connection'), null);
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        callback(null, socket);
      };
      if (proxy === undefined) return dial(options, taken);
      openTunnel(
        new URL(proxy),
        options.hostname,
        Number(options.port) || defaultPort(options.protocol),
      ).then(
        (tunnel) => {
          if (options.protocol !== 'https:') return taken(null, tunnel);
          dial({ ...options, httpSocket: tunnel }, taken);
        },
        (error: Error) => taken(error, null),
      );
    },
  });
  return {
    // The types of undici and Node differ in details that do not matter here.
    fetch: ((url: string, init?: object) =>
      send(url, { ...init, dispatcher: agent })) as unknown as typeof globalThis.fetch,
    dispatcher: agent,
    async destroy() {
      for (const socket of sockets) socket.destroy();
      await agent.destroy();
    },
  };
}

function defaultPort(protocol: string): number {
  return protocol === 'https:' ? 443 : 80;
}

/** Asks the proxy for a connection to a host (RFC 9110, 9.3.6). */
function openTunnel(proxy: URL, host: string, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { username, password } = proxy;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const target = `${host}:${port}`;
  const connecting = http.request({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: Number(proxy.port) || 80,
    method: 'CONNECT',
    path: target,
    headers: {
      host: target,
      ...(username && { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    agent: false,
    timeout: CONNECT_MS,
  });
  connecting.once('connect', ({ statusCode }, socket) => {
    // The timeout of the request is also one of the socket.
    socket.setTimeout(0);
    if (statusCode === 200) return resolve(socket);
    socket.destroy();
    reject(proxyError(`answered with status ${statusCode}`));
  });
  connecting.once('timeout', () => connecting.destroy(proxyError('did not answer in time')));
  connecting.once('response', (response) => {
    response.resume();
    reject(proxyError(`answered with status ${response.statusCode}`));
  });
  connecting.once('error', (error: NodeJS.ErrnoException) =>
    reject(error.code === PROXY_FAILED ? error : proxyError(`cannot be reached (${error.code ?? 'failed'})`)),
  );
  connecting.end();
  return promise;
}

/** The code of errors of the proxy. Their message can be shown: it contains no credentials. */
export const PROXY_FAILED = 'PROXY_FAILED';

function proxyError(problem: string): Error {
  return Object.assign(new Error(`The proxy ${problem}.`), { code: PROXY_FAILED });
}
