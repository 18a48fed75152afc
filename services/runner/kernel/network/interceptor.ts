import type { Socket } from 'node:net';
import type { HostAddress } from '../../../../lib/host-patterns.ts';

/** Takes over the connections to some hosts, instead of a tunnel. */
export interface Interceptor {
  /** Whether connections to this host must not be tunnelled or forwarded. */
  isBound(address: HostAddress): boolean;
  /** Names of hosts whose addresses must not be used in their place. */
  readonly boundNames: readonly string[];
  /** Returns why the host cannot be reached in this way, or undefined. */
  refusal(address: HostAddress, protocol: 'http' | 'connect'): string | undefined;
  /** Confirms the connection to the client and serves it. `connect` opens a connection to the checked address of the host. */
  accept(client: Socket, address: HostAddress, connect: () => Promise<Socket>): Promise<void>;
  /** Closes the connections to hosts. */
  close(): void;
}
