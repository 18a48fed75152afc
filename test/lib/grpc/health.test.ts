import {
  type ClientReadableStream,
  credentials,
  Client as GrpcClient,
  type ServiceError,
} from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { openChannel } from '../../../lib/grpc/channel.ts';
import { serveGrpc } from '../../../lib/grpc/server.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { until } from '../../support/wait.ts';

const endpoint: Endpoint = {
  contract: AuthServiceDefinition,
  async unary() {
    return {};
  },
  async *stream() {},
};

async function open(check?: () => Promise<void>) {
  const stack = new AsyncDisposableStack();
  const server = await serveGrpc('127.0.0.1:0', [endpoint], check);
  stack.defer(() => server.stop(100));
  const channel = openChannel(`127.0.0.1:${server.port}`, { clock: systemClock });
  stack.defer(() => channel.close());
  const client = plainClient(server.port);
  stack.defer(() => client.close());
  return { server, channel, client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** The protocol is encoded by hand here, so that the tests do not depend on the generated code of the server. */
const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;
const NOT_FOUND = 5;
const encodeRequest = (service: string): Buffer =>
  service === '' ? Buffer.alloc(0) : Buffer.from([0x0a, service.length, ...Buffer.from(service)]);
const decodeStatus = (bytes: Buffer): number => (bytes[0] === 0x08 ? (bytes[1] ?? 0) : 0);

function plainClient(port: number) {
  const client = new GrpcClient(`127.0.0.1:${port}`, credentials.createInsecure());
  return {
    check(service: string): Promise<number> {
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          '/grpc.health.v1.Health/Check',
          encodeRequest,
          decodeStatus,
          service,
          (error: ServiceError | null, status?: number) => (error ? reject(error) : resolve(status ?? 0)),
        );
      });
    },
    watch(service: string) {
      const stream: ClientReadableStream<number> = client.makeServerStreamRequest(
        '/grpc.health.v1.Health/Watch',
        encodeRequest,
        decodeStatus,
        service,
      );
      const statuses: number[] = [];
      let ended = false;
      stream.on('data', (status: number) => statuses.push(status));
      stream.on('end', () => {
        ended = true;
      });
      stream.on('error', () => {});
      return { statuses, hasEnded: () => ended, cancel: () => stream.cancel() };
    },
    close: () => client.close(),
  };
}

describe('grpc.health.v1.Health/Check', () => {
  it('returns SERVING for the process and for each service while the check succeeds', async () => {
    await using opened = await open();
    expect(await opened.client.check('')).toBe(SERVING);
    expect(await opened.client.check(AuthServiceDefinition.fullName)).toBe(SERVING);
    await opened.channel.check(AuthServiceDefinition);
  });

  it('returns the result of a new check for each call', async () => {
    let isReady = false;
    await using opened = await open(async () => {
      if (!isReady) throw new Error('no database');
    });
    const unavailable = { code: 'DEPENDENCY_UNAVAILABLE' };
    await expect(opened.channel.check(AuthServiceDefinition)).rejects.toMatchObject(unavailable);
    expect(await opened.client.check('')).toBe(NOT_SERVING);
    isReady = true;
    await opened.channel.check(AuthServiceDefinition);
    expect(await opened.client.check('')).toBe(SERVING);
    isReady = false;
    await expect(opened.channel.check(AuthServiceDefinition)).rejects.toMatchObject(unavailable);
    expect(await opened.client.check(AuthServiceDefinition.fullName)).toBe(NOT_SERVING);
  });

  it('fails with NOT_FOUND for an unknown service', async () => {
    await using opened = await open();
    await expect(opened.client.check('ahs.unknown.v1.UnknownService')).rejects.toMatchObject({
      code: NOT_FOUND,
    });
    await expect(opened.channel.check(AgentsServiceDefinition)).rejects.toThrow();
  });

  it('fails with DEPENDENCY_UNAVAILABLE when the server is stopped', async () => {
    await using opened = await open();
    await opened.server.stop(100);
    await expect(opened.channel.check(AuthServiceDefinition)).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
  });
});

describe('grpc.health.v1.Health/Watch', () => {
  it('sends the status at once and again after each change', async () => {
    let isReady = true;
    await using opened = await open(async () => {
      if (!isReady) throw new Error('no database');
    });
    const watch = opened.client.watch(AuthServiceDefinition.fullName);
    await until('the first status arrives', () => watch.statuses.length === 1);
    isReady = false;
    await opened.client.check('');
    await until('the change arrives', () => watch.statuses.length === 2);
    isReady = true;
    await opened.client.check('');
    await until('the second change arrives', () => watch.statuses.length === 3);
    expect(watch.statuses).toEqual([SERVING, NOT_SERVING, SERVING]);
    watch.cancel();
  });

  it('sends SERVICE_UNKNOWN for an unknown service and keeps the stream open', async () => {
    await using opened = await open();
    const watch = opened.client.watch('ahs.unknown.v1.UnknownService');
    await until('the status arrives', () => watch.statuses.length === 1);
    await opened.client.check('');
    expect(watch.statuses).toEqual([SERVICE_UNKNOWN]);
    expect(watch.hasEnded()).toBe(false);
    watch.cancel();
  });

  it('sends NOT_SERVING and ends when the server stops', async () => {
    await using opened = await open();
    const watch = opened.client.watch('');
    await until('the first status arrives', () => watch.statuses.length === 1);
    await opened.server.stop(2_000);
    await until('the stream ends', watch.hasEnded);
    expect(watch.statuses).toEqual([SERVING, NOT_SERVING]);
  });
});
