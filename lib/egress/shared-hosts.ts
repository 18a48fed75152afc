import { formatHostPattern } from '../host-patterns.ts';
import { type HostPattern, readHostPattern } from '../hosts.ts';

const HTTPS = 443;
/** The ports of an allowed host without a port. */
const DEFAULT_PORTS = [80, HTTPS];

/**
 * Returns patterns for the hosts that match both a pattern of a credential and an allowed host of an environment, without
 * repetitions. They keep the port of the credential: without a port, it is for https on port 443. Malformed texts match
 * nothing.
 */
export function sharedHosts(ofCredential: readonly string[], allowed: readonly string[]): string[] {
  const permitted = patternsOf(allowed);
  const shared = patternsOf(ofCredential).flatMap((pattern) =>
    permitted.flatMap((other) => {
      const ports = other.port === undefined ? DEFAULT_PORTS : [other.port];
      const names = ports.includes(pattern.port ?? HTTPS) ? narrower(pattern, other) : undefined;
      return names ? [formatHostPattern({ ...names, port: pattern.port })] : [];
    }),
  );
  return [...new Set(shared)];
}

/** The names that both patterns match: those of one of them, or none. */
function narrower(one: HostPattern, other: HostPattern): HostPattern | undefined {
  if (includes(one, other)) return other;
  return includes(other, one) ? one : undefined;
}

/** Whether all names of a pattern are names of another one. */
function includes(wide: HostPattern, narrow: HostPattern): boolean {
  if (wide.host === narrow.host) return wide.matchesSubdomains === narrow.matchesSubdomains;
  return wide.matchesSubdomains && narrow.host.endsWith(`.${wide.host}`);
}

function patternsOf(texts: readonly string[]): HostPattern[] {
  return texts.flatMap((text) => {
    const pattern = readHostPattern(text);
    return 'problem' in pattern ? [] : [pattern];
  });
}
