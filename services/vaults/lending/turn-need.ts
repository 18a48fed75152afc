import {
  formatHostAddress,
  type HostAddress,
  patternsFor,
  readHostAddress,
} from '../../../lib/host-patterns.ts';
import type { NamedNeed, NeededServer } from '../store/lendable-credentials.ts';

/** An MCP server that the agent version of a turn has. */
export interface TurnServer extends NeededServer {
  kind: 'server';
  mcpServerId: string;
  /** none | shared | personal | any */
  authorization: string;
  isEnabled: boolean;
}

/** A host, variable or model provider that the vaults of the agent can serve. */
export interface SharedNeed extends NamedNeed {
  /** The host that the credential must be for. Undefined for a model provider. */
  address: HostAddress | undefined;
}

/** A use for which a turn wants a credential. */
export type TurnNeed = TurnServer | SharedNeed;

/** A use as a runner names it. */
export type NamedUse =
  | { kind: 'server'; mcpServerId: string }
  | { kind: 'host'; host: string }
  | { kind: 'variable'; name: string; host: string }
  | { kind: 'model'; provider: string };

/** Returns the need of a host, variable or model provider; undefined for a malformed host. */
export function sharedNeed(use: Exclude<NamedUse, { kind: 'server' }>): SharedNeed | undefined {
  const { kind } = use;
  if (kind === 'model') {
    const { provider } = use;
    return { kind, names: [{ text: provider, rank: 0 }], host: provider, address: undefined };
  }
  const address = readHostAddress(use.host);
  if (!address) return undefined;
  const names = kind === 'host' ? patternsFor(address) : [{ text: use.name, rank: 0 }];
  return { kind, names, host: formatHostAddress(address), address };
}
