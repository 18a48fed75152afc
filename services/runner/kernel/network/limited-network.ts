import type { Clock } from '../../../../lib/clock.ts';
import { type HostPattern, readHostPattern } from '../../../../lib/hosts.ts';
import type { Dialer } from '../../../../lib/outbound/dialer.ts';
import { createEgressPolicy } from './egress-policy.ts';
import { HttpProxy } from './http-proxy.ts';
import type { Interceptor } from './interceptor.ts';
import { listenInNamespace } from './listen-in-namespace.ts';

interface LimitedNetworkOptions {
  /** The program and arguments that start a further program in the network namespace. */
  enterArguments: readonly [program: string, ...args: string[]];
  allowedHosts: readonly string[];
  dialer: Dialer;
  clock: Clock;
  interceptor?: Interceptor | undefined;
  onRefusal(host: string, port: number, reason: string): void;
}

/**
 * Starts an HTTP proxy that listens in a network namespace and connects to the allowed hosts only. It is the only
 * connection between that namespace and any other network.
 */
export async function openLimitedNetwork(options: LimitedNetworkOptions): Promise<Disposable> {
  const { enterArguments, allowedHosts, dialer, clock, interceptor, onRefusal } = options;
  const patterns = allowedHosts.flatMap((text): HostPattern[] => {
    const pattern = readHostPattern(text);
    return 'problem' in pattern ? [] : [pattern];
  });
  const proxy = new HttpProxy({
    policy: createEgressPolicy(patterns, dialer),
    clock,
    interceptor,
    onRefusal,
  });
  const server = await listenInNamespace(enterArguments, (client) => proxy.accept(client));
  return {
    [Symbol.dispose]() {
      server.close();
      proxy.close();
    },
  };
}
