import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { Clock } from '../../clock.ts';
import { refuse } from '../../errors.ts';
import { abortable } from '../abortable.ts';
import { Instance } from './instance.ts';

/** Returns the IP addresses of a host name. */
export type Resolve = (host: string) => Promise<string[]>;

/** The age from which the known addresses of a name are resolved again. */
const RESOLVE_AGAIN_MS = 2_000;

const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** Creates the credentials of connections to the instances of a host, which their certificates must name. */
export interface ChannelTls {
  channelTo(host: string): ChannelCredentials;
}

interface InstancesOptions {
  resolve?: Resolve;
  tls?: ChannelTls | undefined;
}

interface Target {
  host: string;
  port: string;
}

/** An instance of a target. */
interface InstanceAddress {
  /** The host in the configuration. */
  host: string;
  /** An IP address, or localhost, and the port. */
  address: string;
}

/**
 * The instances of one service. The addresses are `host:port`, separated by commas; a host name stands for all of its
 * addresses, which are resolved again while calls are made.
 */
export class Instances {
  readonly #targets: Target[];
  readonly #clock: Clock;
  readonly #resolve: Resolve;
  readonly #tls: ChannelTls | undefined;
  /** By address. */
  readonly #instances = new Map<string, Instance>();
  #resolving: Promise<void> | undefined;
  /** Milliseconds since the epoch. */
  #resolveAt = 0;
  /** Calls begin their search here, so that instances with equally many open calls take turns. */
  #next = 0;

  constructor(addresses: string, clock: Clock, { resolve = systemResolve, tls }: InstancesOptions = {}) {
    this.#targets = addresses.split(',').map(targetOf);
    this.#clock = clock;
    this.#resolve = resolve;
    this.#tls = tls;
  }

  /**
   * Returns the usable instance with the fewest open calls. `preferred` is returned while it is usable. Rejects with
   * CANCELLED when the signal aborts before an address is known.
   */
  async pick(signal: AbortSignal, preferred?: Instance): Promise<Instance> {
    await this.#update(signal);
    if (preferred?.isUsable && this.#instances.get(preferred.address) === preferred) return preferred;
    const all = [...this.#instances.values()];
    const usable = all.filter(({ isUsable }) => isUsable);
    const candidates = usable.length > 0 ? usable : all;
    this.#next = (this.#next + 1) % Math.max(1, candidates.length);
    let best = candidates[this.#next];
    for (const candidate of candidates) if (best && candidate.openCalls < best.openCalls) best = candidate;
    if (!best)
      throw refuse('DEPENDENCY_UNAVAILABLE', 'The name of the service has no address.', {
        retryAfterSeconds: 1,
      });
    return best;
  }

  /** All known instances. */
  async all(): Promise<Instance[]> {
    await this.#update();
    return [...this.#instances.values()];
  }

  close(): void {
    for (const instance of this.#instances.values()) instance.close();
  }

  /** Waits for the addresses only when none is known. */
  async #update(signal?: AbortSignal): Promise<void> {
    const now = this.#clock.now().getTime();
    if (now >= this.#resolveAt && !this.#resolving) {
      this.#resolving = this.#resolveAll().finally(() => {
        this.#resolving = undefined;
      });
      this.#resolveAt = now + RESOLVE_AGAIN_MS;
    }
    if (this.#instances.size > 0 || !this.#resolving) return;
    await (signal ? abortable(this.#resolving, signal) : this.#resolving);
  }

  /** A name that cannot be resolved keeps its instances. */
  async #resolveAll(): Promise<void> {
    const resolved = await Promise.all(this.#targets.map((target) => this.#addressesOf(target)));
    if (resolved.includes(undefined)) return this.#add(resolved.flatMap((addresses) => addresses ?? []));
    const current = resolved.flatMap((addresses) => addresses ?? []);
    this.#add(current);
    for (const [address, instance] of this.#instances) {
      if (current.some((known) => known.address === address)) continue;
      this.#instances.delete(address);
      instance.retire();
    }
  }

  #add(found: InstanceAddress[]): void {
    for (const { host, address } of found) {
      if (this.#instances.has(address)) continue;
      this.#instances.set(address, new Instance(address, this.#clock, this.#tls?.channelTo(host)));
    }
  }

  async #addressesOf({ host, port }: Target): Promise<InstanceAddress[] | undefined> {
    // The addresses of localhost belong to one instance.
    if (isIP(host) !== 0 || host === 'localhost') return [{ host, address: addressOf(host, port) }];
    try {
      return (await this.#resolve(host)).map((ip) => ({ host, address: addressOf(ip, port) }));
    } catch {
      return undefined;
    }
  }
}

function targetOf(text: string): Target {
  const colon = text.lastIndexOf(':');
  return {
    host: text
      .slice(0, colon)
      .trim()
      .replace(/^\[|\]$/g, ''),
    port: text.slice(colon + 1).trim(),
  };
}

function addressOf(host: string, port: string): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}
