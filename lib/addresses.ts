import ipaddr from 'ipaddr.js';

/** A single address or a network prefix. */
export interface AddressRange {
  first: ipaddr.IPv4 | ipaddr.IPv6;
  bits: number;
}

const FORM = /^([^/]+)(?:\/(\d{1,3}))?$/;
/** The longest text of an address, in brackets and with a port. */
const MAX_CHARACTERS = 56;
/** Providers assign at least a /64 to each IPv6 subscriber, who can use any address in it. */
const SUBSCRIBER_BITS = 64;

/** Parses `192.0.2.1`, `192.0.2.0/24`, `2001:db8::1` or `2001:db8::/32`. Returns undefined for any other text and for prefix length 0. */
export function readRange(text: string): AddressRange | undefined {
  const [, name = '', digits] = FORM.exec(text) ?? [];
  const first = readAddress(name);
  if (!first) return undefined;
  const length = first instanceof ipaddr.IPv4 ? 32 : 128;
  const bits = digits === undefined ? length : Number(digits);
  return bits < 1 || bits > length ? undefined : { first, bits };
}

export function isInRange(address: ipaddr.IPv4 | ipaddr.IPv6, { first, bits }: AddressRange): boolean {
  if (address instanceof ipaddr.IPv4) return first instanceof ipaddr.IPv4 && address.match(first, bits);
  return first instanceof ipaddr.IPv6 && address.match(first, bits);
}

/**
 * Parses an address in a standard notation; other notations give undefined. An IPv4-mapped IPv6 address becomes IPv4.
 * An address with a zone is refused because a zone is only valid on one machine.
 */
export function readAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined;
  return ipaddr.process(text);
}

/** Returns the key under which rate limits count an address: the IPv4 address itself, or the /64 network of an IPv6 address. */
export function subscriberNetworkOf(address: string): string {
  if (!(readAddress(address) instanceof ipaddr.IPv6)) return address;
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/${SUBSCRIBER_BITS}`).toString();
}
