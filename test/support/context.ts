import { createLocalBus } from '../../lib/bus/local.ts';
import { createLocalCounters } from '../../lib/bus/local-counters.ts';
import { systemClock } from '../../lib/clock.ts';
import { createClient } from '../../lib/grpc/client.ts';
import type { Client, Contract } from '../../lib/grpc/contract.ts';
import { localTransport } from '../../lib/grpc/local.ts';
import { openChannel, serveGrpc } from '../../lib/grpc/network.ts';
import type { Endpoint } from '../../lib/grpc/transport.ts';
import { createIds } from '../../lib/ids.ts';
import { createLog } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import type { ServiceContext } from '../../lib/service.ts';
import { silentTracer } from '../../lib/telemetry/tracer.ts';

const SECRET = 'the shared secret of all services under test';

/** What a service under test is opened with. Failures nobody expected are printed. */
export function createContext(databaseUrl: string, overrides: Partial<ServiceContext> = {}): ServiceContext {
  const clock = overrides.clock ?? systemClock;
  return {
    clock,
    ids: createIds(clock),
    log: createLog({ level: 'warn', pretty: false }),
    bus: createLocalBus(),
    counters: createLocalCounters(clock),
    databaseUrl,
    serviceSecret: SECRET,
    observe: ({ code, service, method, cause }) => {
      if (code === 'INTERNAL') console.error(`${service}.${method}`, cause);
    },
    tracer: silentTracer,
    metrics: createMetrics(),
    ...overrides,
  };
}

export type TransportName = 'in process' | 'gRPC';
export const TRANSPORTS: TransportName[] = ['in process', 'gRPC'];

/** Makes clients of an endpoint over the transport under test; `as('edge')` calls as the edge would. */
export async function connect<C extends Contract>(
  contract: C,
  endpoint: Endpoint,
  transport: TransportName,
  context: ServiceContext,
): Promise<{ as(self: string, secret?: string): Client<C> } & AsyncDisposable> {
  const shared = { contract, clock: context.clock };
  if (transport === 'in process') {
    return {
      as: (self, secret = SECRET) =>
        createClient({ ...shared, self, secret, transport: localTransport(endpoint) }),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const server = await serveGrpc('127.0.0.1:0', [endpoint]);
  const channel = openChannel(`127.0.0.1:${server.port}`);
  return {
    as: (self, secret = SECRET) =>
      createClient({ ...shared, self, secret, transport: channel.transport(contract) }),
    async [Symbol.asyncDispose]() {
      channel.close();
      await server.stop(1_000);
    },
  };
}
