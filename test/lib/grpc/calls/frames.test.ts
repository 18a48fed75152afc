import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../lib/clock.ts';
import { openChannel } from '../../../../lib/grpc/channel.ts';
import { createClient } from '../../../../lib/grpc/client.ts';
import type { Call } from '../../../../lib/grpc/contract.ts';
import { serveGrpc } from '../../../../lib/grpc/server.ts';
import { createServiceTokenIssuer } from '../../../../lib/grpc/service-token.ts';
import { MAX_MESSAGE_BYTES } from '../../../../lib/grpc/transport.ts';
import {
  GetUserRequest,
  type GetUserResponse,
  AuthServiceDefinition as Service,
} from '../../../../proto/gen/ahs/auth/v1/auth.ts';
import {
  ExchangeRequest,
  ExchangeResponse,
  type RequestFrame,
  type ResponseFrame,
} from '../../../../proto/gen/ahs/calls/v1/calls.ts';
import { seeded } from '../../../chaos/random.ts';
import { fakeEndpoint } from '../../../support/fake-service.ts';
import { heapBytes } from '../../../support/heap.ts';

const SECRET = 'the shared secret of the services';
const RANDOM_FRAMES = 10_000;
const LONG_CHARACTERS = 20 * 1024 * 1024;

interface User {
  userId: string;
}

async function serve(getUser: (request: User, call: Call) => Promise<GetUserResponse>) {
  const context = { serviceSecret: SECRET, clock: systemClock };
  const server = await serveGrpc('127.0.0.1:0', [fakeEndpoint(Service, { getUser }, 'edge', context)]);
  return { port: server.port, [Symbol.asyncDispose]: () => server.stop(0) };
}

function open(port: number) {
  const channel = openChannel(`127.0.0.1:${port}`, { clock: systemClock });
  const transport = channel.transport(Service);
  const client = createClient({
    contract: Service,
    transport,
    self: 'edge',
    secret: SECRET,
    clock: systemClock,
  });
  return { client, [Symbol.dispose]: () => channel.close() };
}

function named(displayName: string): GetUserResponse {
  const user = { userId: 'usr_1', displayName, email: '', roles: [], groups: [], enabled: true };
  return { user: { ...user, createdAt: undefined, lastSeenAt: undefined } };
}

/** Opens a stream of calls without the client of this repository. */
function openRaw(port: number) {
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const stream = client.makeBidiStreamRequest(
    '/ahs.calls.v1.CallsService/Exchange',
    (bytes: Buffer) => bytes,
    (bytes: Buffer) => ExchangeResponse.decode(bytes),
    new grpc.Metadata(),
  );
  const frames: ResponseFrame[] = [];
  stream.on('data', (group: ExchangeResponse) => frames.push(...group.frames));
  const ended = new Promise<{ code: grpc.status; details: string }>((resolve) =>
    stream.on('error', (error) => resolve(error as grpc.ServiceError)),
  );
  return {
    frames,
    ended,
    write: (bytes: Uint8Array) => stream.write(Buffer.from(bytes)),
    send: (...sent: RequestFrame[]) =>
      stream.write(Buffer.from(ExchangeRequest.encode({ frames: sent }).finish())),
    close: () => client.close(),
    cancel: () => stream.cancel(),
  };
}

function startFrame(callId: number, start: { method?: string; message?: Uint8Array } = {}): RequestFrame {
  const value = {
    method: start.method ?? `${Service.fullName}/GetUser`,
    serviceToken: createServiceTokenIssuer('edge', SECRET, systemClock)(undefined),
    message: Buffer.from(start.message ?? GetUserRequest.encode({ userId: 'usr_1' }).finish()),
  };
  return { callId, kind: { $case: 'start', value } };
}

describe('a stream of calls', () => {
  it('sends calls of the same moment as one message', async () => {
    await using server = await serve(async () => named(''));
    const raw = openRaw(server.port);
    raw.send(...Array.from({ length: 20 }, (_, index) => startFrame(index + 1)));
    await expect.poll(() => raw.frames.length).toBe(20);
    raw.close();
  });

  it('does not delay other calls by a long response', async () => {
    const ended: string[] = [];
    await using server = await serve(async ({ userId }) =>
      named(userId === 'long' ? 'x'.repeat(LONG_CHARACTERS) : userId),
    );
    using opened = open(server.port);
    const call = async (userId: string) => {
      const { user } = await opened.client.getUser({ userId });
      ended.push(userId);
      return user?.displayName.length;
    };
    await call('first');
    const long = call('long');
    for (let index = 0; index < 20; index++) await call('short');
    expect(ended).not.toContain('long');
    expect(await long).toBe(LONG_CHARACTERS);
  });

  it('ends only the call of a frame that cannot be used', async () => {
    await using server = await serve(async () => named('Alice'));
    const raw = openRaw(server.port);
    raw.send(
      startFrame(1, { message: Buffer.from([0xff, 0xff]) }),
      startFrame(2, { method: 'ahs.auth.v1.AuthService/Missing' }),
      startFrame(3, { method: `${Service.fullName}/Identify`, message: Buffer.from([0x0a, 0xff]) }),
      { callId: 4, kind: undefined },
      { callId: 99, kind: { $case: 'cancel', value: {} } },
      startFrame(5),
    );
    await expect.poll(() => raw.frames.length).toBe(5);
    const results = raw.frames
      .toSorted((a, b) => a.callId - b.callId)
      .map(({ kind }) => (kind?.$case === 'error' ? kind.value.code : kind?.$case));
    expect(results).toEqual([
      'INVALID_REQUEST',
      'FORBIDDEN',
      'INVALID_REQUEST',
      'INVALID_REQUEST',
      'message',
    ]);
    raw.close();
  });

  it('ends with a named error when a call id is in use, and cancels its calls', async () => {
    const aborted = Promise.withResolvers<void>();
    await using server = await serve((_, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      return new Promise(() => {});
    });
    const raw = openRaw(server.port);
    raw.send(startFrame(1), startFrame(1));
    expect(await raw.ended).toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
    await aborted.promise;
    raw.close();
  });

  it('ends with a named error after a message above the size limit, and others go on', async () => {
    await using server = await serve(async () => named('Alice'));
    const [large, other] = [openRaw(server.port), openRaw(server.port)];
    large.write(Buffer.alloc(MAX_MESSAGE_BYTES + 1024 * 1024));
    expect(await large.ended).toMatchObject({ code: grpc.status.RESOURCE_EXHAUSTED });
    other.send(startFrame(1));
    await expect.poll(() => other.frames.length).toBe(1);
    large.close();
    other.close();
  });

  it('survives 10,000 random messages without an open call and without more memory', async () => {
    let openCalls = 0;
    await using server = await serve(async (_, { signal }) => {
      openCalls++;
      try {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        return named('');
      } finally {
        openCalls--;
      }
    });
    const random = seeded(19);
    const valid = Buffer.from(ExchangeRequest.encode({ frames: [startFrame(1), startFrame(2)] }).finish());
    let sent = 0;
    let heapBefore = 0;
    while (sent < RANDOM_FRAMES) {
      if (heapBefore === 0 && sent > RANDOM_FRAMES / 2) heapBefore = heapBytes();
      const raw = openRaw(server.port);
      let isOpen = true;
      void raw.ended.then(() => {
        isOpen = false;
      });
      for (; isOpen && sent < RANDOM_FRAMES; sent++) {
        const bytes = Buffer.from(valid);
        const changes = 1 + Math.floor(random() * 4);
        for (let change = 0; change < changes; change++)
          bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
        raw.write(bytes.subarray(0, Math.ceil(random() * bytes.length)));
        if (sent % 10 === 0) await new Promise(setImmediate);
      }
      raw.cancel();
      raw.close();
    }
    await expect.poll(() => openCalls).toBe(0);
    await expect.poll(() => heapBytes() - heapBefore).toBeLessThan(4 * 1024 * 1024);
    const raw = openRaw(server.port);
    raw.send(startFrame(1, { method: 'none' }));
    await expect.poll(() => raw.frames.length).toBe(1);
    raw.close();
  });

  it('answers each of a thousand calls once when it is cut, and later calls use a new one', async () => {
    let isHeld = true;
    await using server = await serve((request) =>
      isHeld ? new Promise(() => {}) : Promise.resolve(named(request.userId)),
    );
    await using proxy = await startProxy(server.port);
    using opened = open(proxy.port);
    const results: string[] = [];
    const calls = Array.from({ length: 1_000 }, () =>
      opened.client.endLogin({ login: '' }).then(
        () => results.push('OK'),
        ({ code }) => results.push(code),
      ),
    );
    const reads = opened.client.getUser({ userId: 'usr_1' });
    reads.catch(() => {});
    await expect.poll(() => proxy.bytes()).toBeGreaterThan(0);
    isHeld = false;
    proxy.cut();
    await Promise.all(calls);
    expect(results.length).toBe(1_000);
    await expect
      .poll(() =>
        opened.client.getUser({ userId: 'usr_7' }).then(
          ({ user }) => user?.displayName,
          () => '',
        ),
      )
      .toBe('usr_7');
  });
});

/** A TCP proxy whose connections can be cut. */
async function startProxy(target: number) {
  const sockets = new Set<Socket>();
  let bytes = 0;
  const server = createServer((incoming) => {
    const outgoing = connectTcp(target, '127.0.0.1');
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    incoming.on('data', (chunk) => {
      bytes += chunk.length;
    });
    incoming.pipe(outgoing).pipe(incoming);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    bytes: () => bytes,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
