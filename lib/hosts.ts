import ipaddr from 'ipaddr.js';

/** An entry of a host allow list. */
export interface HostPattern {
  /** A lower-case name, or an address in canonical form without brackets. */
  host: string;
  /** The entry matches every subdomain of `host` and not `host` itself. */
  matchesSubdomains: boolean;
  /** Undefined means ports 80 and 443. */
  port: number | undefined;
}

const MAX_NAME = 253;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Matches a last label that makes URL parsers read the host as an address (https://url.spec.whatwg.org/#ends-in-a-number-checker). */
const NUMBER = /^(\d+|0x[\da-f]*)$/;
/** Names of this machine or of a cloud metadata server. */
const INTERNAL_NAMES = ['localhost', 'metadata.google.internal'];
/** A public address that is answered by the host of the virtual machine (Azure's WireServer). */
const HYPERVISORS = ['168.63.129.16'];
/** The global unicast range of IPv6. Other ranges include old notations of IPv4 addresses. */
const GLOBAL = ipaddr.IPv6.parse('2000::');
const GLOBAL_BITS = 3;

/**
 * Parses an allow list entry: a host name, `*.` and a domain, or an address, each with an optional `:port` (default: 80
 * and 443). A problem is a phrase that follows the name of the entry in a sentence.
 */
export function readHostPattern(text: string): HostPattern | { problem: string } {
  const [, wildcard = '', name = '', digits] = /^(\*\.)?(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (name === '') return { problem: 'must be a host name, or *. and a domain, and may end in :port' };
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535))
    return { problem: 'must have a port from 1 to 65535' };
  const matchesSubdomains = wildcard !== '';
  const host = name.toLowerCase();
  const isAddress = host.startsWith('[') || NUMBER.test(host.slice(host.lastIndexOf('.') + 1));
  const problem = isAddress ? addressProblem(host, matchesSubdomains) : nameProblem(host, matchesSubdomains);
  if (problem) return { problem };
  return { host: isAddress ? canonical(host) : host, matchesSubdomains, port };
}

/**
 * Returns whether an address is public. Loopback, private and link-local addresses (which include cloud metadata
 * servers) and alternative notations of such addresses are not public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || HYPERVISORS.includes(parsed.toString())) return false;
  return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL, GLOBAL_BITS);
}

function nameProblem(host: string, matchesSubdomains: boolean): string | undefined {
  const labels = host.split('.');
  if (!/^[ -~]*$/.test(host)) return 'must be in ASCII; write an international name as xn--…';
  if (host.length > MAX_NAME || !labels.every((label) => LABEL.test(label))) return 'is not a host name';
  if (matchesSubdomains && labels.length < 2) return 'must not match a whole top-level domain';
  if (INTERNAL_NAMES.some((internal) => host === internal || host.endsWith(`.${internal}`))) {
    return 'is a host that sandboxes must not reach';
  }
  return undefined;
}

function addressProblem(host: string, matchesSubdomains: boolean): string | undefined {
  const bare = unbracketed(host);
  const isValid = host.startsWith('[')
    ? ipaddr.IPv6.isValid(bare) && !bare.includes('%')
    : ipaddr.IPv4.isValidFourPartDecimal(bare);
  if (!isValid || matchesSubdomains) return 'is not a valid address; write it as 192.0.2.1 or [2001:db8::1]';
  return isPublicAddress(bare) ? undefined : 'is an address that sandboxes must not reach';
}

function canonical(host: string): string {
  return ipaddr.parse(unbracketed(host)).toString();
}

function unbracketed(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}
