import { createLocalBus } from '../../lib/bus/local.ts';
import { createLocalRateLimiter } from '../../lib/bus/local-rate-limiter.ts';
import { systemClock } from '../../lib/clock.ts';
import { Instance } from '../../lib/grpc/calls/instance.ts';
import { openChannel } from '../../lib/grpc/channel.ts';
import { createClient } from '../../lib/grpc/client.ts';
import type { Client, Contract } from '../../lib/grpc/contract.ts';
import { localTransport } from '../../lib/grpc/local.ts';
import { serveGrpc } from '../../lib/grpc/server.ts';
import type { Endpoint } from '../../lib/grpc/transport.ts';
import { createIds } from '../../lib/ids.ts';
import { createLog } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import type { ServiceContext } from '../../lib/service.ts';
import { silentTracer } from '../../lib/telemetry/tracer.ts';

const SECRET = 'the shared secret of all services under test';

/** The context of a service under test. Internal errors are printed. */
export function createContext(databaseUrl: string, overrides: Partial<ServiceContext> = {}): ServiceContext {
  const clock = overrides.clock ?? systemClock;
  return {
    clock,
    ids: createIds(clock),
    log: createLog({ level: 'warn' }),
    bus: createLocalBus(),
    rateLimiter: createLocalRateLimiter(clock),
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

export type TransportName = 'in process' | 'call streams' | 'gRPC';
const isOnGrpc = process.env.SERVICE_TEST_TRANSPORT === 'gRPC';
/**
 * The transport of the contract suites of services: that between processes. The tests of the edge and the end-to-end tests call
 * the services in process. Lane 2 repeats some of them over plain gRPC, like a client that does not know call streams.
 */
export const TRANSPORTS: TransportName[] = [isOnGrpc ? 'gRPC' : 'call streams'];
/** The transports of the contract suites of calls. */
export const ALL_TRANSPORTS: TransportName[] = isOnGrpc ? ['gRPC'] : ['in process', 'call streams'];

/** Connects clients to an endpoint over the transport under test. `as('edge')` returns a client that calls as the edge. */
export async function connect<C extends Contract>(
  contract: C,
  endpoint: Endpoint,
  transport: TransportName,
  context: ServiceContext,
  /** Returns the port through which clients call a server over a network. */
  callThrough: (port: number) => number | Promise<number> = (port) => port,
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
  const address = `127.0.0.1:${await callThrough(server.port)}`;
  const { connected, close } =
    transport === 'gRPC' ? openNative(address, contract, context) : openStreams(address, contract, context);
  return {
    as: (self, secret = SECRET) => createClient({ ...shared, self, secret, transport: connected }),
    async [Symbol.asyncDispose]() {
      close();
      await server.stop(1_000);
    },
  };
}

function openStreams(address: string, contract: Contract, { clock }: ServiceContext) {
  const channel = openChannel(address, { clock });
  return { connected: channel.transport(contract), close: () => channel.close() };
}

/** Calls like a client that does not know call streams. */
function openNative(address: string, contract: Contract, { clock }: ServiceContext) {
  const instance = new Instance(address, clock);
  return { connected: instance.native(contract), close: () => instance.close() };
}
