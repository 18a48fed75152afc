import ipaddr from 'ipaddr.js';

/** One entry of an allow list of hosts. */
export interface HostPattern {
  /** A name in lower case, or an address in its canonical form, without brackets. */
  host: string;
  /** It stands for every name below `host`, and not for `host` itself. */
  below: boolean;
  /** Undefined: 80 and 443. */
  port: number | undefined;
}

const MAX_NAME = 253;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** What a URL parser takes for an address, in whatever way it is written (https://url.spec.whatwg.org/#ends-in-a-number-checker). */
const NUMBER = /^(\d+|0x[\da-f]*)$/;
/** Names that mean this machine, or the one that hands out its credentials, wherever they are looked up. */
const INNER = ['localhost', 'metadata.google.internal'];
/** Public by its number, but it is the host of the virtual machine that answers (Azure's WireServer). */
const HYPERVISORS = ['168.63.129.16'];
/** All that is handed out of IPv6 for the internet. Elsewhere there are still old ways of writing addresses of IPv4. */
const GLOBAL = ipaddr.IPv6.parse('2000::');
const GLOBAL_BITS = 3;

/**
 * Reads an entry of an allow list: a host name, `*.` and a domain, or an address, each with `:port` where it is
 * another port than 80 and 443. What it cannot be is said as a phrase that follows the entry's name.
 */
export function readHostPattern(text: string): HostPattern | { problem: string } {
  const [, wildcard = '', name = '', digits] = /^(\*\.)?(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (name === '') return { problem: 'must be a host name, or *. and a domain, and may end in :port' };
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535))
    return { problem: 'must have a port from 1 to 65535' };
  const below = wildcard !== '';
  const host = name.toLowerCase();
  const isAddress = host.startsWith('[') || NUMBER.test(host.slice(host.lastIndexOf('.') + 1));
  const problem = isAddress ? addressProblem(host, below) : nameProblem(host, below);
  if (problem) return { problem };
  return { host: isAddress ? canonical(host) : host, below, port };
}

/**
 * Whether an address belongs to the public internet: it is not one of this machine, of a private or a
 * link-local network, where clouds keep their metadata, nor one that stands for such an address in disguise.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || HYPERVISORS.includes(parsed.toString())) return false;
  return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL, GLOBAL_BITS);
}

function nameProblem(host: string, below: boolean): string | undefined {
  const labels = host.split('.');
  if (!/^[ -~]*$/.test(host)) return 'must be in ASCII; write an international name as xn--…';
  if (host.length > MAX_NAME || !labels.every((label) => LABEL.test(label))) return 'is no host name';
  if (below && labels.length < 2) return 'must stand for less than all of a top-level domain';
  if (INNER.some((inner) => host === inner || host.endsWith(`.${inner}`))) {
    return 'names a host that no sandbox may reach';
  }
  return undefined;
}

function addressProblem(host: string, below: boolean): string | undefined {
  const bare = unbracketed(host);
  const isValid = host.startsWith('[')
    ? ipaddr.IPv6.isValid(bare) && !bare.includes('%')
    : ipaddr.IPv4.isValidFourPartDecimal(bare);
  if (!isValid || below) return 'is no address; write it as 192.0.2.1 or [2001:db8::1]';
  return isPublicAddress(bare) ? undefined : 'is an address of a network that no sandbox may reach';
}

function canonical(host: string): string {
  return ipaddr.parse(unbracketed(host)).toString();
}

function unbracketed(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}
