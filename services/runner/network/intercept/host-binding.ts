import { isIP } from 'node:net';
import type { HostAddress } from '../../../../lib/host-patterns.ts';

const HTTP_PORT = 80;

/** Returns why connections to a bound host cannot be intercepted, or undefined. */
export function interceptionProblem({ host, port }: HostAddress): string | undefined {
  if (isIP(host)) return 'A host with a credential must be addressed by its name.';
  if (port === HTTP_PORT) return 'A host with a credential accepts https: only.';
  return undefined;
}
