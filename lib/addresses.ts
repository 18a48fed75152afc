import ipaddr from 'ipaddr.js';

/** One address, or the network of all that begin with the same bits. */
export interface AddressRange {
  first: ipaddr.IPv4 | ipaddr.IPv6;
  bits: number;
}

const FORM = /^([^/]+)(?:\/(\d{1,3}))?$/;
/** The longest text of an address, in brackets and with a port. */
const LONGEST = 56;
/** What one subscriber of IPv6 is handed, who may then have any address in it. */
const SUBSCRIBER_BITS = 64;

/** Reads `192.0.2.1`, `192.0.2.0/24`, `2001:db8::1` or `2001:db8::/32`. Undefined for anything else, and for a network of everybody. */
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
 * Reads an address as it is written where no other way of writing it is. IPv4 that came through a socket of IPv6 is
 * IPv4; a zone is refused, as it means something on one machine only.
 */
export function readAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (text.length > LONGEST) return undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined;
  return ipaddr.process(text);
}

/** Whom an address stands for where like ones are counted together: itself, or the network of one subscriber. */
export function subscriberOf(address: string): string {
  if (!(readAddress(address) instanceof ipaddr.IPv6)) return address;
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/${SUBSCRIBER_BITS}`).toString();
}
