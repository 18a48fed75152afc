import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type AddressRange, isInRange, readAddress, readRange } from '../../lib/addresses.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** From where it comes, as far as the proxies of the operator can be asked; empty when the client has gone. */
    address: string;
  }
}

/** Longer chains of proxies than this are nobody's. */
const MAX_HOPS = 32;
/** IPv4 as a socket of IPv6 shows it. */
const MAPPED = '::ffff:';
/** Some proxies write a port behind the address. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i;

type AddressOf = (request: Pick<FastifyRequest, 'raw'>) => string;

/**
 * Tells from where requests come. X-Forwarded-For is believed as far as trusted proxies have written it: each has put the
 * address behind it at the end, so the last one that is not trusted counts. What is no address was not written by
 * one of them, and whoever handed it over counts.
 */
export function sourceAddresses(app: FastifyInstance, trustedProxies: readonly string[]): AddressOf {
  app.decorateRequest('address', '');
  const trusted = trustedProxies.map(readRange).filter((range) => range !== undefined);
  if (trusted.length === 0) return ({ raw }) => peerOf(raw.socket.remoteAddress);
  return ({ raw }) => {
    const peer = peerOf(raw.socket.remoteAddress);
    const { 'x-forwarded-for': forwarded } = raw.headers;
    // Node joins several into one.
    return typeof forwarded === 'string' ? behind(peer, forwarded, trusted) : peer;
  };
}

function peerOf(address = ''): string {
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address;
}

function behind(peer: string, forwarded: string, trusted: readonly AddressRange[]): string {
  let source = peer;
  let end = forwarded.length;
  for (let hop = 0; hop < MAX_HOPS && end >= 0 && isTrusted(source, trusted); hop++) {
    const comma = forwarded.lastIndexOf(',', end - 1);
    const named = addressIn(forwarded.slice(comma + 1, end));
    if (named === undefined) break;
    source = named;
    end = comma;
  }
  return source;
}

function isTrusted(address: string, trusted: readonly AddressRange[]): boolean {
  // The zone of a peer of this link says only through which interface it came.
  const read = readAddress(address.split('%', 1)[0] ?? '');
  return read !== undefined && trusted.some((range) => isInRange(read, range));
}

function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const [, v6, v4] = WITH_PORT.exec(text) ?? [];
  return readAddress(v6 ?? v4 ?? text)?.toString();
}
