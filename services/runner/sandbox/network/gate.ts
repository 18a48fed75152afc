import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type HostPattern, isPublicAddress } from '../../../../lib/hosts.ts';

/** How the outside is reached; tests have one of their own. */
export interface Outside {
  resolve(host: string): Promise<string[]>;
  dial(address: string, port: number): Socket;
}

export const internet: Outside = {
  async resolve(host) {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  },
  dial: (address, port) => connect({ host: address, port }),
};

/** A host that must not be reached, or cannot be. The message is for whoever asked. */
export class Closed extends Error {
  readonly status: 403 | 502;

  constructor(status: 403 | 502, message: string) {
    super(message);
    this.status = status;
  }
}

const OPEN_PORTS = [80, 443];
const CONNECT_MS = 10_000;

/** Lets connections out to the hosts of a list, as long as their addresses are anybody's. */
export class Gate {
  readonly #patterns: readonly HostPattern[];
  readonly #outside: Outside;

  constructor(patterns: readonly HostPattern[], outside: Outside) {
    this.#patterns = patterns;
    this.#outside = outside;
  }

  /** A connection to the very address that was looked at. Throws Closed. */
  async open(host: string, port: number): Promise<Socket> {
    const name = host
      .toLowerCase()
      .replace(/^\[|\]$/g, '')
      .replace(/\.$/, '');
    if (!this.#patterns.some((pattern) => matches(pattern, name, port)))
      throw new Closed(403, 'This host is not one that the sandbox may reach.');
    const addresses = await this.#outside.resolve(name).catch(() => []);
    const [address] = addresses;
    if (address === undefined) throw new Closed(502, 'This host has no address.');
    const own = ownAddresses();
    // A name with one wrong address is not asked for its others.
    if (!addresses.every((one) => isPublicAddress(one) && !own.has(one)))
      throw new Closed(403, 'The address of this host is not one that the sandbox may reach.');
    return await connected(this.#outside.dial(address, port));
  }
}

function matches({ host, below, port }: HostPattern, name: string, wanted: number): boolean {
  if (port === undefined ? !OPEN_PORTS.includes(wanted) : port !== wanted) return false;
  return below ? name.endsWith(`.${host}`) : name === host;
}

/** Public ones, too: the service may listen there. */
function ownAddresses(): ReadonlySet<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
  );
}

function connected(socket: Socket): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const fail = () => {
    socket.destroy();
    reject(new Closed(502, 'This host cannot be reached.'));
  };
  socket.setTimeout(CONNECT_MS, fail);
  socket.once('error', fail);
  socket.once('connect', () => {
    socket.setTimeout(0);
    socket.off('timeout', fail);
    socket.off('error', fail);
    resolve(socket);
  });
  return promise;
}
