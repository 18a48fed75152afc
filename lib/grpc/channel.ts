import type { Channel } from 'nice-grpc';
import type { Clock } from '../clock.ts';
import { refuse } from '../errors.ts';
import { type ChannelTls, Instances } from './calls/instances.ts';
import { streamTransport } from './calls/transport.ts';
import type { Contract } from './contract.ts';
import { isServing } from './health.ts';
import { asRefusal, unreachable } from './native-calls.ts';
import type { Transport } from './transport.ts';

/** A connection to all instances of a service. */
export interface GrpcChannel {
  transport(contract: Contract): Transport;
  /** Rejects unless an instance is reachable and reports SERVING. */
  check(contract: Contract): Promise<void>;
  close(): void;
}

export interface ChannelOptions {
  clock: Clock;
  /** Keeps all calls on one instance while it is usable. */
  isSticky?: boolean;
  /** Without it, connections are not encrypted. */
  tls?: ChannelTls | undefined;
}

/**
 * Opens a channel to the instances at `host:port`, separated by commas. It connects on first use and reconnects to a
 * restarted service by itself.
 */
export function openChannel(addresses: string, { clock, isSticky, tls }: ChannelOptions): GrpcChannel {
  const instances = new Instances(addresses, clock, { tls });
  return {
    transport: (contract) => streamTransport(instances, contract, { isSticky }),
    async check(contract) {
      const checks = (await instances.all()).map(({ channel }) => checkInstance(channel, contract));
      await Promise.any(checks).catch(({ errors: [first] }: AggregateError) => {
        throw first ?? unreachable(contract.name, undefined);
      });
    },
    close: () => instances.close(),
  };
}

async function checkInstance(channel: Channel, contract: Contract): Promise<void> {
  const serving = await isServing(channel, contract).catch((error: unknown) => {
    throw asRefusal(error, undefined, contract.name);
  });
  if (!serving) throw refuse('DEPENDENCY_UNAVAILABLE', `${contract.name} reports that it is not ready.`);
}
