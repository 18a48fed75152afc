import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type AddressRange, isInRange, readAddress, readRange } from '../../lib/addresses.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's IP address, behind trusted proxies; empty when the client has disconnected. */
    address: string;
  }
}

/** At most this many entries of X-Forwarded-For are evaluated. */
const MAX_HOPS = 32;
/** The prefix of IPv4 addresses on an IPv6 socket. */
const IPV4_MAPPED = '::ffff:';
/** Some proxies append a port to the address. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i;

type AddressReader = (request: Pick<FastifyRequest, 'raw'>) => string;

/**
 * Returns a function that determines the client address of a request. Each proxy appends the address of its peer to
 * X-Forwarded-For, so the last entry that is not a trusted proxy is the client. An entry that is not an address was not
 * written by a trusted proxy; the proxy after it counts as the client.
 */
export function createAddressReader(app: FastifyInstance, trustedProxies: readonly string[]): AddressReader {
  app.decorateRequest('address', '');
  const trusted = trustedProxies.map(readRange).filter((range) => range !== undefined);
  if (trusted.length === 0) return ({ raw }) => peerAddress(raw.socket.remoteAddress);
  return ({ raw }) => {
    const peer = peerAddress(raw.socket.remoteAddress);
    const { 'x-forwarded-for': forwarded } = raw.headers;
    // Node joins repeated headers into one.
    return typeof forwarded === 'string' ? forwardedAddress(peer, forwarded, trusted) : peer;
  };
}

function peerAddress(address = ''): string {
  return address.startsWith(IPV4_MAPPED) && address.includes('.')
    ? address.slice(IPV4_MAPPED.length)
    : address;
}

function forwardedAddress(peer: string, forwarded: string, trusted: readonly AddressRange[]): string {
  let source = peer;
  let end = forwarded.length;
  for (let hop = 0; hop < MAX_HOPS && end >= 0 && isTrusted(source, trusted); hop++) {
    const comma = forwarded.lastIndexOf(',', end - 1);
    const next = parseForwardedEntry(forwarded.slice(comma + 1, end));
    if (next === undefined) break;
    source = next;
    end = comma;
  }
  return source;
}

function isTrusted(address: string, trusted: readonly AddressRange[]): boolean {
  // The zone of a link-local address names the interface and is not part of the address.
  const read = readAddress(address.split('%', 1)[0] ?? '');
  return read !== undefined && trusted.some((range) => isInRange(read, range));
}

function parseForwardedEntry(entry: string): string | undefined {
  const text = entry.trim();
  const [, v6, v4] = WITH_PORT.exec(text) ?? [];
  return readAddress(v6 ?? v4 ?? text)?.toString();
}
