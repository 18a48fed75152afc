import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import {
  type GetUserRequest,
  AuthServiceDefinition as Service,
} from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { createFakeClock } from '../../support/clock.ts';
import { ALL_TRANSPORTS, connect, createContext, type TransportName } from '../../support/context.ts';
import { fakeEndpoint } from '../../support/fake-service.ts';

type Handler = (request: GetUserRequest, call: Call) => Promise<{ user: undefined }>;

const MEBIBYTE = 1024 * 1024;

async function open(transport: TransportName, getUser: Handler, context = createContext('')) {
  const connected = await connect(
    Service,
    fakeEndpoint(Service, { getUser }, 'edge', context),
    transport,
    context,
  );
  return { client: connected.as('edge'), [Symbol.asyncDispose]: () => connected[Symbol.asyncDispose]() };
}

describe.each(ALL_TRANSPORTS)('unary calls over %s', (transport) => {
  it('carry the caller, the trace, the request id and the deadline', async () => {
    const calls: Call[] = [];
    const clock = createFakeClock();
    const record: Handler = async (_, call) => {
      calls.push(call);
      return { user: undefined };
    };
    await using opened = await open(transport, record, createContext('', { clock }));
    const caller = { userId: 'usr_1', roles: ['member'] };
    const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
    const deadline = clock.now().getTime() + 5_000;
    await opened.client.getUser({ userId: 'usr_2' }, { caller, trace, requestId: 'req_1', deadline });
    expect(calls[0]).toMatchObject({ caller, requestId: 'req_1', trace: { traceId: trace.traceId } });
    // Each hop shortens the deadline by 25 ms. The default is 15 s.
    expect(calls[0]?.deadline).toBe(deadline - 25);
  });

  it('end in any order, each with its own result', async () => {
    const gates = new Map<string, () => void>();
    await using opened = await open(transport, async ({ userId }) => {
      await new Promise<void>((resolve) => gates.set(userId, resolve));
      throw refuse('USER_NOT_FOUND', userId);
    });
    const ids = Array.from({ length: 50 }, (_, index) => `usr_${index}`);
    const ended: string[] = [];
    const calls = ids.map((userId) =>
      opened.client.getUser({ userId }).catch(({ code, message }) => ended.push(`${code} ${message}`)),
    );
    await expect.poll(() => gates.size).toBe(ids.length);
    for (const id of ids.toReversed()) gates.get(id)?.();
    await Promise.all(calls);
    expect(ended.toSorted()).toEqual(ids.map((id) => `USER_NOT_FOUND ${id}`).toSorted());
  });

  it('abort the signal of the handler when the caller leaves', async () => {
    const aborted = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    await using opened = await open(transport, (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      started.resolve();
      return new Promise(() => {});
    });
    const leave = new AbortController();
    const call = opened.client.getUser({ userId: 'usr_1' }, { signal: leave.signal });
    await started.promise;
    leave.abort();
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    await aborted.promise;
  });

  it('fail at their deadline when the handler does not respond', async () => {
    await using opened = await open(transport, () => new Promise(() => {}));
    const call = opened.client.getUser({ userId: 'usr_1' }, { deadline: Date.now() + 200 });
    await expect(call).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it('carry long messages in both directions and refuse those above 64 MiB', async () => {
    await using opened = await open(transport, async ({ userId }) => {
      throw refuse('USER_NOT_FOUND', String(userId.length));
    });
    const call = (bytes: number) => opened.client.getUser({ userId: 'x'.repeat(bytes) });
    await expect(call(MEBIBYTE)).rejects.toMatchObject({ code: 'USER_NOT_FOUND', message: String(MEBIBYTE) });
    await expect(call(65 * MEBIBYTE)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('report an unexpected error of a handler as INTERNAL without its text', async () => {
    await using opened = await open(transport, async () => {
      throw new TypeError('secret');
    });
    const error = await opened.client.getUser({ userId: 'usr_1' }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'INTERNAL', message: expect.not.stringContaining('secret') });
  });
});
