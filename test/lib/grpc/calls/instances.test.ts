import { createServer, ServerError } from 'nice-grpc';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../lib/clock.ts';
import { Instance } from '../../../../lib/grpc/calls/instance.ts';
import { Instances } from '../../../../lib/grpc/calls/instances.ts';
import { streamTransport } from '../../../../lib/grpc/calls/transport.ts';
import { createClient } from '../../../../lib/grpc/client.ts';
import { withSharedWriter } from '../../../../lib/grpc/encoding.ts';
import { type GrpcServer, serveGrpc } from '../../../../lib/grpc/server.ts';
import { AuthServiceDefinition as Service } from '../../../../proto/gen/ahs/auth/v1/auth.ts';
import { createFakeClock, type FakeClock } from '../../../support/clock.ts';
import { fakeEndpoint } from '../../../support/fake-service.ts';

const SECRET = 'the shared secret of the services';
const CALLS = 1_000;

interface TestInstance {
  server: GrpcServer;
  calls: number;
  /** While set, calls wait for it. */
  gate: Promise<void> | undefined;
}

async function startInstance(clock: FakeClock, port = 0, host = '127.0.0.1'): Promise<TestInstance> {
  const handled = async () => {
    instance.calls++;
    await instance.gate;
  };
  const handlers = {
    getUser: async () => ({ user: (await handled()) as undefined }),
    endLogin: async () => {
      await handled();
      return { endSessionUrl: '' };
    },
  };
  const endpoint = fakeEndpoint(Service, handlers, 'edge', { serviceSecret: SECRET, clock });
  const server = await serveGrpc(`${host}:${port}`, [endpoint]);
  const instance: TestInstance = { server, calls: 0, gate: undefined };
  return instance;
}

/** Opens a client of this many instances. */
async function open(count: number, { isSticky = false } = {}) {
  const stack = new AsyncDisposableStack();
  const clock = createFakeClock();
  const started: TestInstance[] = [];
  const start = async () => {
    const instance = await startInstance(clock);
    stack.defer(() => instance.server.stop(0));
    started.push(instance);
    return instance;
  };
  for (let index = 0; index < count; index++) await start();
  const addresses = started.map(({ server }) => `127.0.0.1:${server.port}`).join(',');
  const instances = new Instances(addresses, clock);
  stack.defer(() => instances.close());
  const transport = streamTransport(instances, Service, { isSticky });
  const client = createClient({ contract: Service, transport, self: 'edge', secret: SECRET, clock });
  return { clock, started, client, start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const read = { userId: 'usr_1' };

describe('calls to several instances of a service', () => {
  it('are spread evenly', async () => {
    await using opened = await open(2);
    for (let index = 0; index < CALLS; index++) await opened.client.getUser(read);
    const simultaneous = Array.from({ length: CALLS }, () => opened.client.getUser(read));
    await Promise.all(simultaneous);
    for (const { calls } of opened.started) expect(calls / (2 * CALLS)).toBeCloseTo(0.5, 1);
  });

  it('stay on one instance until it drains when the caller asks for that', async () => {
    await using opened = await open(2, { isSticky: true });
    for (let index = 0; index < 20; index++) await opened.client.getUser(read);
    const [used] = opened.started.filter(({ calls }) => calls > 0);
    const unused = opened.started.find((instance) => instance !== used);
    expect([used?.calls, unused?.calls]).toEqual([20, 0]);
    await used?.server.stop(1_000);
    for (let index = 0; index < 20; index++) await opened.client.getUser(read);
    expect(unused?.calls).toBe(20);
  });

  it('all succeed while one instance drains, also those that are open', async () => {
    await using opened = await open(2);
    await Promise.all(Array.from({ length: 10 }, () => opened.client.getUser(read)));
    const [draining] = opened.started;
    if (!draining) throw new Error('no instance');
    const gate = Promise.withResolvers<void>();
    for (const instance of opened.started) instance.gate = gate.promise;
    const before = Array.from({ length: 100 }, () => opened.client.endLogin({ login: '' }));
    await expect.poll(() => draining.calls).toBeGreaterThan(10);
    const stopped = draining.server.stop(5_000);
    const during = Array.from({ length: 100 }, () => opened.client.endLogin({ login: '' }));
    gate.resolve();
    await Promise.all([...before, ...during, stopped]);
    const { calls } = draining;
    for (let index = 0; index < 10; index++) await opened.client.endLogin({ login: '' });
    expect(draining.calls).toBe(calls);
  });

  it('fail at once when their instance dies, and reading calls are repeated elsewhere', async () => {
    await using opened = await open(2);
    await Promise.all(Array.from({ length: 10 }, () => opened.client.getUser(read)));
    const [dying, other] = opened.started;
    if (!dying || !other) throw new Error('no instance');
    dying.gate = new Promise(() => {});
    const reads = Array.from({ length: 10 }, () => opened.client.getUser(read));
    const writes = Array.from({ length: 10 }, () => opened.client.endLogin({ login: '' }));
    const settled = Promise.allSettled(writes);
    await expect.poll(() => dying.calls + other.calls).toBe(30);
    await dying.server.stop(0);
    await Promise.all(reads);
    const results = await settled;
    const failed = results.filter(({ status }) => status === 'rejected');
    expect(failed.length).toBeGreaterThan(0);
    for (const failure of failed)
      expect(failure).toMatchObject({ reason: { code: 'DEPENDENCY_UNAVAILABLE', retryAfterSeconds: 1 } });
  });
});

describe('an instance', () => {
  it('without call streams is called with plain gRPC, and no call fails before that is known', async () => {
    let calls = 0;
    const getUser = async () => {
      calls++;
      return { user: undefined };
    };
    const missing = async () => {
      throw new ServerError(12, 'not part of this test');
    };
    const names = Object.keys(Service.methods).map((name) => [name, missing]);
    const servers = Array.from({ length: 2 }, () => createServer());
    const addresses: string[] = [];
    for (const server of servers) {
      server.add(withSharedWriter(Service), { ...Object.fromEntries(names), getUser } as never);
      addresses.push(`127.0.0.1:${await server.listen('127.0.0.1:0')}`);
    }
    const clock = createFakeClock();
    const instances = new Instances(addresses.join(','), clock);
    const transport = streamTransport(instances, Service);
    const client = createClient({ contract: Service, transport, self: 'edge', secret: SECRET, clock });
    await client.getUser(read);
    await Promise.all(Array.from({ length: 10 }, () => client.getUser(read)));
    expect(calls).toBe(11);
    instances.close();
    await Promise.all(servers.map((server) => server.shutdown()));
  });

  it('that is closed refuses calls as unreachable, and not as cancelled by their caller', async () => {
    const clock = createFakeClock();
    const instance = new Instance('127.0.0.1:1', clock);
    instance.close();
    const transport = instance.native(Service);
    const client = createClient({ contract: Service, transport, self: 'edge', secret: SECRET, clock });
    await expect(client.getUser(read)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  });

  it('that appears under the name of the service gets calls within 5 s, and one that disappears gets none', async () => {
    const clock = createFakeClock();
    let addresses = ['127.0.0.1'];
    const first = await startInstance(clock);
    const { port } = first.server;
    const second = await startInstance(clock, port, '127.0.0.2');
    const instances = new Instances(`auth.internal:${port}`, clock, { resolve: async () => addresses });
    const transport = streamTransport(instances, Service);
    const client = createClient({ contract: Service, transport, self: 'edge', secret: SECRET, clock });
    await client.getUser(read);
    expect([first.calls, second.calls]).toEqual([1, 0]);

    addresses = ['127.0.0.1', '127.0.0.2'];
    clock.advance(5_000);
    await expect.poll(() => client.getUser(read).then(() => second.calls)).toBeGreaterThan(0);

    addresses = ['127.0.0.2'];
    clock.advance(5_000);
    await client.getUser(read);
    await expect.poll(async () => (await instances.all()).length).toBe(1);
    const { calls } = first;
    for (let index = 0; index < 10; index++) await client.getUser(read);
    expect(first.calls).toBe(calls);
    instances.close();
    await Promise.all([first.server.stop(0), second.server.stop(0)]);
  });

  it('that is not known yet fails calls at their deadline while its name is being resolved', async () => {
    const instances = new Instances('auth.internal:1', systemClock, { resolve: () => new Promise(() => {}) });
    const transport = streamTransport(instances, Service);
    const options = { contract: Service, self: 'edge', secret: SECRET, clock: systemClock, timeoutMs: 50 };
    const call = createClient({ ...options, transport }).getUser(read);
    await expect(call).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    instances.close();
  });

  it('keeps its calls while the name of the service cannot be resolved', async () => {
    const clock = createFakeClock();
    const instance = await startInstance(clock);
    let isKnown = true;
    const resolve = async () => {
      if (!isKnown) throw new Error('getaddrinfo EAI_AGAIN');
      return ['127.0.0.1'];
    };
    const instances = new Instances(`auth.internal:${instance.server.port}`, clock, { resolve });
    const transport = streamTransport(instances, Service);
    const client = createClient({ contract: Service, transport, self: 'edge', secret: SECRET, clock });
    await client.getUser(read);
    isKnown = false;
    clock.advance(5_000);
    await client.getUser(read);
    expect(instance.calls).toBe(2);
    instances.close();
    await instance.server.stop(0);
  });
});
