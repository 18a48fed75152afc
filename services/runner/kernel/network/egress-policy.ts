import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type HostPattern, isPublicAddress } from '../../../../lib/hosts.ts';

/** Resolves names and opens connections to the network of the runner; tests replace it. */
export interface Dialer {
  resolve(host: string): Promise<string[]>;
  dial(address: string, port: number): Socket;
}

export const internetDialer: Dialer = {
  async resolve(host) {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  },
  dial: (address, port) => connect({ host: address, port }),
};

/** The host is not allowed (403) or cannot be reached (502). The proxy sends the message to its client. */
export class EgressError extends Error {
  readonly status: 403 | 502;

  constructor(status: 403 | 502, message: string) {
    super(message);
    this.status = status;
  }
}

const DEFAULT_PORTS = [80, 443];
const CONNECT_TIMEOUT_MS = 10_000;

export interface EgressPolicy {
  /** Connects to the address that was checked; the name is not resolved a second time. Rejects with EgressError. */
  connect(host: string, port: number): Promise<Socket>;
}

/** Returns a policy that allows connections to hosts that match a pattern and have public addresses only. */
export function createEgressPolicy(patterns: readonly HostPattern[], dialer: Dialer): EgressPolicy {
  return {
    async connect(host, port) {
      const name = host
        .toLowerCase()
        .replace(/^\[|\]$/g, '')
        .replace(/\.$/, '');
      if (!patterns.some((pattern) => matches(pattern, name, port)))
        throw new EgressError(403, 'The sandbox may not connect to this host.');
      const addresses = await dialer.resolve(name).catch(() => []);
      const [address] = addresses;
      if (address === undefined) throw new EgressError(502, 'The host has no address.');
      const own = ownAddresses();
      // A name with one forbidden address is refused, even if it also has allowed ones.
      if (!addresses.every((one) => isPublicAddress(one) && !own.has(one)))
        throw new EgressError(403, 'The sandbox may not connect to the address of this host.');
      return await waitUntilConnected(dialer.dial(address, port));
    },
  };
}

function matches({ host, matchesSubdomains, port }: HostPattern, name: string, requested: number): boolean {
  if (port === undefined ? !DEFAULT_PORTS.includes(requested) : port !== requested) return false;
  return matchesSubdomains ? name.endsWith(`.${host}`) : name === host;
}

/** Returns the addresses of this machine. Public ones are forbidden, too, because the service may listen there. */
function ownAddresses(): ReadonlySet<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
  );
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
