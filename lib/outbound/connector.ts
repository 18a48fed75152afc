import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../clock.ts';
import { resolveChecked } from './address-check.ts';
import type { Dialer } from './dialer.ts';
import { OutboundError } from './outbound-error.ts';
import { isAddressOfPrivateHost, isPrivateHost, type PrivateHost } from './private-hosts.ts';

export interface ConnectorOptions {
  dialer: Dialer;
  clock: Clock;
  privateHosts: readonly PrivateHost[];
  /** Time limit of name resolution, connection and TLS handshake together. */
  connectMs: number;
  /** Certificates that are trusted instead of the root certificates of Node. */
  ca?: string | undefined;
}

export interface Destination {
  protocol: string;
  /** Without brackets. */
  host: string;
  port: number;
}

/** Time after which the next address of a name is tried, while the first does not respond. */
const NEXT_ADDRESS_MS = 2_500;

/** Connects to an address that was checked; the name is resolved once. Throws OutboundError. */
export async function connectChecked(destination: Destination, options: ConnectorOptions): Promise<Socket> {
  const { host } = destination;
  const timeLimit = new AbortController();
  const cancel = options.clock.after(options.connectMs, () =>
    timeLimit.abort(new OutboundError('timed_out', `The host ${host} did not accept a connection in time.`)),
  );
  try {
    return await untilAborted(openSocket(destination, options, timeLimit.signal), timeLimit.signal);
  } catch (error) {
    if (error instanceof OutboundError) error.nothingSent = true;
    throw error;
  } finally {
    cancel();
  }
}

async function openSocket(destination: Destination, options: ConnectorOptions, signal: AbortSignal) {
  const { host, port, protocol } = destination;
  const addresses = await allowedAddresses(destination, options);
  let failure: unknown;
  for (const [index, address] of addresses.entries()) {
    signal.throwIfAborted();
    const socket = options.dialer.dial(address, port).setNoDelay(true);
    const limitMs = index === addresses.length - 1 ? undefined : NEXT_ADDRESS_MS;
    try {
      await untilEvent(socket, 'connect', { signal, clock: options.clock, limitMs });
    } catch (error) {
      failure = error;
      continue;
    }
    return protocol === 'https:' ? await encrypt(socket, host, options, signal) : socket;
  }
  signal.throwIfAborted();
  throw failure instanceof OutboundError ? failure : unreachable(host);
}

async function allowedAddresses({ protocol, host, port }: Destination, options: ConnectorOptions) {
  const isEncrypted = protocol === 'https:';
  const isPrivate = isPrivateHost(options.privateHosts, host, port);
  if (!isEncrypted && !isPrivate) throw new OutboundError('url_refused', 'The URL must begin with https://.');
  const dialer = isIP(host) ? { resolve: async () => [host] } : options.dialer;
  const checked = await (isPrivate
    ? resolveChecked(host, dialer, (address) => isAddressOfPrivateHost(address, isEncrypted))
    : resolveChecked(host, dialer));
  if (checked.problem === 'forbidden')
    throw new OutboundError('address_refused', `The host ${host} has an address that is not allowed.`);
  if (checked.problem !== undefined)
    throw new OutboundError('unreachable', `The host ${host} has no address.`);
  return checked.addresses;
}

async function encrypt(socket: Socket, host: string, { ca, clock }: ConnectorOptions, signal: AbortSignal) {
  const encrypted = connectTls({
    socket,
    host,
    // A server name must not be an address (RFC 6066, 3).
    servername: isIP(host) ? '' : host,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca }),
  });
  try {
    await untilEvent(encrypted, 'secureConnect', { signal, clock });
    return encrypted;
  } catch (error) {
    socket.destroy();
    if (signal.aborted) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(code)) throw unreachable(host);
    throw new OutboundError('tls_invalid', `The TLS certificate or handshake of ${host} is invalid.`);
  }
}

const unreachable = (host: string) => new OutboundError('unreachable', `The host ${host} cannot be reached.`);

/** Destroys the socket when it fails, or when the time limit or the signal ends first. */
function untilEvent(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  { signal, clock, limitMs }: { signal: AbortSignal; clock: Clock; limitMs?: number | undefined },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (error: unknown) => {
    socket.destroy();
    reject(error);
  };
  const onAbort = () => fail(signal.reason);
  const onClose = () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
  const cancel =
    limitMs === undefined ? () => {} : clock.after(limitMs, () => fail(new Error('no response')));
  // This listener stays: an error between this event and the next listener must not end the process.
  socket.on('error', fail).once('close', onClose).once(event, resolve);
  signal.addEventListener('abort', onAbort, { once: true });
  return promise.finally(() => {
    cancel();
    signal.removeEventListener('abort', onAbort);
    socket.off('close', onClose).off(event, resolve);
  });
}

/** Name resolution cannot be cancelled; its result is discarded. */
function untilAborted(opening: Promise<Socket>, signal: AbortSignal): Promise<Socket> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([opening, promise]).finally(() => signal.removeEventListener('abort', onAbort));
}
