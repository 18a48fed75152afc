import type { Socket } from 'node:net';
import { matchesHost } from '../../../../lib/host-patterns.ts';
import type { HostPattern } from '../../../../lib/hosts.ts';
import { resolveChecked } from '../../../../lib/outbound/address-check.ts';
import type { Dialer } from '../../../../lib/outbound/dialer.ts';
import { normalizeHost } from './host-name.ts';

/** The host is not allowed (403) or cannot be reached (502). The proxy sends the message to its client. */
export class EgressError extends Error {
  readonly status: 403 | 502;

  constructor(status: 403 | 502, message: string) {
    super(message);
    this.status = status;
  }
}

const CONNECT_TIMEOUT_MS = 10_000;

export interface EgressPolicy {
  /** Connects to the address that was checked; the name is not resolved a second time. Rejects with EgressError. */
  connect(host: string, port: number): Promise<Socket>;
  /** Rejects with EgressError when the host is not on the list. Its addresses are not checked. */
  check(host: string, port: number): Promise<void>;
  /** Returns the addresses of a name; empty when it has none. */
  addressesOf(host: string): Promise<readonly string[]>;
}

/** Returns a policy that allows connections to hosts that match a pattern and have public addresses only. */
export function createEgressPolicy(patterns: readonly HostPattern[], dialer: Dialer): EgressPolicy {
  async function check(host: string, port: number): Promise<void> {
    const address = { host: normalizeHost(host), port };
    if (!patterns.some((pattern) => matchesHost(pattern, address)))
      throw new EgressError(403, 'The sandbox may not connect to this host.');
  }

  return {
    check,
    addressesOf: (host) => dialer.resolve(host).catch(() => []),
    async connect(host, port) {
      await check(host, port);
      const name = normalizeHost(host);
      const checked = await resolveChecked(name, dialer);
      if (checked.problem === 'forbidden')
        throw new EgressError(403, 'The sandbox may not connect to the address of this host.');
      const [address] = checked.addresses ?? [];
      if (address === undefined) throw new EgressError(502, 'The host has no address.');
      return await waitUntilConnected(dialer.dial(address, port));
    },
  };
}

function waitUntilConnected(socket: Socket): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const fail = () => {
    socket.destroy();
    reject(new EgressError(502, 'The host cannot be reached.'));
  };
  socket.setTimeout(CONNECT_TIMEOUT_MS, fail);
  socket.once('error', fail);
  socket.once('connect', () => {
    socket.setTimeout(0);
    socket.off('timeout', fail);
    socket.off('error', fail);
    resolve(socket);
  });
  return promise;
}
