import type { IncomingHttpHeaders } from 'node:http';
import {
  classifyInboundRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PerRequestHTTPServerTransport,
  SdkError,
  SdkErrorCode,
  type Server,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';

/** The only revision whose requests this transport carries. */
export const REVISION = '2026-07-28';

/**
 * The transport of one request of 2026-07-28. It hands over the result as JSON text. A `Request` and a `Response` for each call
 * would be a fifth of the time of a short call, and a sixth of the memory of one that waits. Errors and streams are responses of
 * the library.
 */
class ResultTransport extends PerRequestHTTPServerTransport {
  readonly #deliver: (text: string) => void;
  #isStream = false;

  constructor(deliver: (text: string) => void) {
    super({ classification: { era: 'modern', revision: REVISION } });
    this.#deliver = deliver;
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message) this.#isStream = true;
    if (this.#isStream || !('result' in message)) return super.send(message, options);
    this.#deliver(JSON.stringify(message));
  }
}

/**
 * The request of 2026-07-28 that lists or calls tools. Undefined for all others, and unless the required headers are those that
 * belong to the body: the library decides about them.
 */
export function toolRequest(body: unknown, headers: IncomingHttpHeaders): JSONRPCRequest | undefined {
  const { 'mcp-protocol-version': revision, 'mcp-method': method, 'mcp-name': name } = headers;
  if (revision !== REVISION || (method !== 'tools/call' && method !== 'tools/list')) return undefined;
  const named = { protocolVersionHeader: revision, mcpMethodHeader: method };
  const classified = classifyInboundRequest({ httpMethod: 'POST', body, ...named });
  if (classified.kind !== 'modern' || classified.messageKind !== 'request') return undefined;
  const { message } = classified;
  return method === 'tools/list' || name === message.params?.name ? message : undefined;
}

/**
 * Answers a request of 2026-07-28 with a server object that is used for nothing else. Returns the JSON text of the result, or a
 * response: an error, a stream, or the status 499 after the signal has aborted.
 */
export function answerRequest(
  server: Server,
  request: JSONRPCRequest,
  signal: AbortSignal | undefined,
): Promise<Response | string> {
  for (const method of UNUSED_REQUESTS) server.removeRequestHandler(method);
  for (const method of UNUSED_NOTIFICATIONS) server.removeNotificationHandler(method);
  // Not an async function, whose state a call that waits would retain.
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return resolve(disconnected());
    const close = () => void transport.close();
    const transport = new ResultTransport((text) => {
      signal?.removeEventListener('abort', close);
      resolve(text);
    });
    signal?.addEventListener('abort', close, { once: true });
    const fail = (error: unknown) => {
      const isClosed = error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed;
      if (isClosed) resolve(disconnected());
      else reject(error);
    };
    server.connect(transport).then(() => void transport.handleMessage(request).then(resolve, fail), reject);
  });
}

/** The handlers that a server object has from its beginning. A call that waits would retain them. */
const UNUSED_REQUESTS = ['initialize', 'ping', 'server/discover'] as const;
const UNUSED_NOTIFICATIONS = [
  'notifications/cancelled',
  'notifications/progress',
  'notifications/initialized',
] as const;

const disconnected = () => new Response(null, { status: 499 });
