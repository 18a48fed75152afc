import ipaddr from 'ipaddr.js';
import { isPublicAddress } from '../hosts.ts';

/** A private or loopback host that outbound requests may reach, over http: too. */
export interface PrivateHost {
  /** A lower-case name, or an address in canonical form without brackets. */
  host: string;
  /** Undefined means ports 80 and 443. */
  port: number | undefined;
}

/** Describes the expected form to operators. */
export const PRIVATE_HOSTS = 'host[:port] entries separated by commas';

const DEFAULT_PORTS = [80, 443];
const NAME = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Link-local addresses include the metadata servers of clouds. */
const PRIVATE_RANGES = ['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'];

/** The message of an error follows the name of the setting. */
export function parsePrivateHosts(text: string): PrivateHost[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map(parseEntry);
}

function parseEntry(entry: string): PrivateHost {
  const [, name = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(entry.toLowerCase()) ?? [];
  const host = name.replace(/^\[(.*)\]$/, '$1');
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(host) || ipaddr.IPv6.isValid(host);
  if (!isAddress && (!NAME.test(host) || /(^|\.)\d+$/.test(host)))
    throw new Error(`has an entry that is not of the form host[:port]: ${entry}`);
  if (isAddress && !isPrivateAddress(host))
    throw new Error(`has an entry that is not a private or loopback address: ${entry}`);
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535))
    throw new Error(`has an entry with an invalid port: ${entry}`);
  return { host: isAddress ? ipaddr.parse(host).toString() : host, port };
}

/** `host` is a lower-case name, or an address without brackets. */
export function isPrivateHost(hosts: readonly PrivateHost[], host: string, port: number): boolean {
  return hosts.some(
    (one) => one.host === host && (one.port === undefined ? DEFAULT_PORTS.includes(port) : one.port === port),
  );
}

/** Returns whether an address is private or of this machine. Multicast and link-local addresses are neither. */
export function isPrivateAddress(address: string): boolean {
  return ipaddr.isValid(address) && PRIVATE_RANGES.includes(ipaddr.process(address).range());
}

/** Returns whether a listed host may have this address. Over http: it must be private. */
export function isAddressOfPrivateHost(address: string, isEncrypted: boolean): boolean {
  return isPrivateAddress(address) || (isEncrypted && isPublicAddress(address));
}
