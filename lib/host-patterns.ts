import { type HostPattern, readHostPattern } from './hosts.ts';

/** A host and port that a program connects to. */
export interface HostAddress {
  /** A lower-case name, or an address in canonical form without brackets. */
  host: string;
  port: number;
}

/** The ports of a pattern without a port. */
const DEFAULT_PORTS = [80, 443];
const HTTPS = 443;

/** Parses a host name or an address with an optional `:port` (default: 443). Returns undefined for other texts. */
export function readHostAddress(text: string): HostAddress | undefined {
  const pattern = readHostPattern(text);
  if ('problem' in pattern || pattern.matchesSubdomains) return undefined;
  return { host: pattern.host, port: pattern.port ?? HTTPS };
}

/** Returns the text that `readHostAddress` parses. */
export function formatHostAddress({ host, port }: HostAddress): string {
  return formatHostPattern({ host, matchesSubdomains: false, port: port === HTTPS ? undefined : port });
}

/** Returns the canonical text of a pattern. */
export function formatHostPattern({ host, matchesSubdomains, port }: HostPattern): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${matchesSubdomains ? '*.' : ''}${name}${port === undefined ? '' : `:${port}`}`;
}

export function matchesHost(pattern: HostPattern, { host, port }: HostAddress): boolean {
  if (pattern.port === undefined ? !DEFAULT_PORTS.includes(port) : pattern.port !== port) return false;
  return pattern.matchesSubdomains ? host.endsWith(`.${pattern.host}`) : host === pattern.host;
}

/** Whether one of the patterns matches. Malformed texts match nothing. */
export function matchesAnyHost(patterns: readonly string[], address: HostAddress): boolean {
  return patterns.some((text) => {
    const pattern = readHostPattern(text);
    return !('problem' in pattern) && matchesHost(pattern, address);
  });
}

/**
 * Returns the canonical texts of all patterns that match a host: those of the same rank have the same precision, and rank 0
 * is the most precise one.
 */
export function patternsFor({ host, port }: HostAddress): { text: string; rank: number }[] {
  const ports = DEFAULT_PORTS.includes(port) ? [undefined, port] : [port];
  const withPorts = (name: string, matchesSubdomains: boolean, rank: number) =>
    ports.map((one) => ({ text: formatHostPattern({ host: name, matchesSubdomains, port: one }), rank }));
  const texts = withPorts(host, false, 0);
  if (host.includes(':')) return texts;
  const labels = host.split('.');
  for (let skipped = 1; skipped < labels.length; skipped++)
    texts.push(...withPorts(labels.slice(skipped).join('.'), true, skipped));
  return texts;
}

/** Orders patterns from the most to the least precise. */
export function byPrecision(one: HostPattern, other: HostPattern): number {
  const isExact = ({ matchesSubdomains }: HostPattern) => Number(!matchesSubdomains);
  return isExact(other) - isExact(one) || other.host.length - one.host.length;
}
