import { type Clock, wait } from '../../../../lib/clock.ts';
import type { OperatorTransport } from '../../../../lib/outbound/operator-transport.ts';
import { ProductError } from '../product-error.ts';
import { toProductError } from './errors.ts';
import { isSlackUrl } from './hosts.ts';
import type { WebApi } from './vendor-clients.ts';

export interface Envelope {
  /** As Slack has sent it: the form that deployments parses. */
  json: string;
  /** Does nothing when the connection has ended: Slack then sends the event again. */
  acknowledge(): void;
}

/**
 * - `replaced`: Slack ends the connection soon and expects the next one.
 * - `disabled`: Socket Mode was turned off for the app.
 * - `lost`: it is closed.
 */
export type SocketEnd = 'replaced' | 'disabled' | 'lost';

export interface SlackSocket {
  /** The first sign of its end. Envelopes can arrive after `replaced`. */
  readonly ended: Promise<SocketEnd>;
  close(): Promise<void>;
}

export interface SocketOptions {
  /** With the app-level token. */
  api: WebApi;
  apiUrl: string;
  clock: Clock;
  /** A transport of this connection alone. */
  transport: OperatorTransport;
  onEnvelope(envelope: Envelope): void;
}

const HELLO_MS = 15_000;
/** Time for the close frame. Slack leaves the TCP connection open after it. */
const CLOSE_MS = 100;

/** Resolves when Slack has greeted. Throws ProductError, or the reason of the signal. */
export async function openSocket(options: SocketOptions, signal: AbortSignal): Promise<SlackSocket> {
  const { api, apiUrl, clock, transport, onEnvelope } = options;
  const lifetime = new AbortController();
  const client = api.socketClient(transport, AbortSignal.any([signal, lifetime.signal]));
  const ended = Promise.withResolvers<SocketEnd>();
  let failure: unknown;

  // The library reads messages itself and fails for events without an inner event, outside of any caller.
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: boolean) => {
    const message = isBinary ? undefined : parse(data);
    if (message?.type === 'hello') client.emit('connected');
    else if (message?.type === 'disconnect') ended.resolve(endOf(message.reason));
    else if (message?.envelope_id !== undefined) onEnvelope(envelope(String(data), message.envelope_id));
  });
  client.on('authenticated', ({ url }: { url?: string }) => {
    // An error of this listener ends `start`.
    if (!url || !isSlackUrl(url, apiUrl))
      throw new ProductError('unavailable', 'The address for the WebSocket does not lead to Slack.');
  });
  client.on('error', (error: unknown) => {
    failure = error;
  });
  client.on('disconnected', () => ended.resolve('lost'));

  function envelope(json: string, id: string): Envelope {
    const text = JSON.stringify({ envelope_id: id });
    return { json, acknowledge: () => client.websocket?.send(text, () => {}) };
  }

  async function close(): Promise<void> {
    ended.resolve('lost');
    client.disconnect().catch(() => {});
    await wait(clock, CLOSE_MS);
    lifetime.abort();
    // The second call ends the timers of the library without waiting for the other side.
    client.websocket?.disconnect();
    await transport.destroy();
  }

  const tooLate = Promise.withResolvers<never>();
  const onAbort = () => tooLate.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const cancel = clock.after(HELLO_MS, () =>
    tooLate.reject(new ProductError('unavailable', 'Slack did not greet on the WebSocket in time.')),
  );
  try {
    signal.throwIfAborted();
    await Promise.race([client.start(), tooLate.promise]);
  } catch (error) {
    await close();
    signal.throwIfAborted();
    if (error !== undefined) throw toProductError(error);
    const { message } = toProductError(failure ?? new Error('closed'));
    throw new ProductError('unavailable', message);
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
    tooLate.promise.catch(() => {});
  }
  return { ended: ended.promise, close };
}

function endOf(reason: unknown): SocketEnd {
  return reason === 'link_disabled' ? 'disabled' : reason === 'too_many_websockets' ? 'lost' : 'replaced';
}

interface Message {
  type?: unknown;
  reason?: unknown;
  envelope_id?: string;
}

/** Undefined for a message of another form. */
function parse(data: unknown): Message | undefined {
  try {
    const value: unknown = JSON.parse(String(data));
    if (typeof value !== 'object' || value === null) return undefined;
    const { envelope_id: id, ...message }: { envelope_id?: unknown } = value;
    return { ...message, ...(typeof id === 'string' && { envelope_id: id }) };
  } catch {
    return undefined;
  }
}
