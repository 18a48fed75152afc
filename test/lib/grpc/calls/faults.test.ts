import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../lib/clock.ts';
import { CallStream } from '../../../../lib/grpc/calls/call-stream.ts';
import { FrameQueue } from '../../../../lib/grpc/calls/frame-queue.ts';
import { openChannel } from '../../../../lib/grpc/channel.ts';
import { createClient } from '../../../../lib/grpc/client.ts';
import { AuthServiceDefinition } from '../../../../proto/gen/ahs/auth/v1/auth.ts';
import type {
  ExchangeRequest,
  ExchangeResponse,
  ResponseFrame,
} from '../../../../proto/gen/ahs/calls/v1/calls.ts';
import { heapBytes } from '../../../support/heap.ts';

const SECRET = 'the shared secret of the services';
const MEBIBYTE = 1024 * 1024;
const FRAMES = 10_000;
const never = new AbortController().signal;

/** A stream whose service is the test. */
function openStream() {
  const responses = new FrameQueue<ResponseFrame>();
  const sent: ExchangeRequest[] = [];
  const stream = new CallStream({
    async *open(requests): AsyncGenerator<ExchangeResponse> {
      void (async () => {
        for await (const request of requests) sent.push(request);
      })();
      for await (const frames of responses) yield { frames };
    },
    onDraining: () => {},
    onEnd: () => {},
  });
  const start = { method: 'm', serviceToken: '', message: Buffer.alloc(1_000), traceparent: undefined };
  return {
    stream,
    frames: () => sent.flatMap(({ frames }) => frames),
    call: (signal = never) => stream.call({ ...start, requestId: undefined, timeoutMs: undefined }, signal),
    accept: () => responses.push({ callId: 0, kind: undefined }, 0),
    receive: (callId: number, kind: ResponseFrame['kind']) => responses.push({ callId, kind }, 0),
    part: (callId: number, bytes: Buffer) =>
      responses.push({ callId, kind: { $case: 'part', value: bytes } }, 0),
    close: () => responses.end(),
  };
}

const turn = () => new Promise(setImmediate);

describe('the side of the caller of a stream of calls', () => {
  it('sends nothing of a call that is cancelled before the service has accepted the stream', async () => {
    const { call, accept, frames, stream, close } = openStream();
    const controller = new AbortController();
    const dropped = expect(call(controller.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
    call().catch(() => {});
    controller.abort();
    await dropped;
    accept();
    await expect.poll(() => frames().length).toBe(1);
    expect(frames().map(({ callId, kind }) => [callId, kind?.$case])).toEqual([[2, 'start']]);
    expect(stream.openCalls).toBe(1);
    close();
  });

  it('fails a call whose response is longer than a message may be, and no other call', async () => {
    const { call, accept, part, receive, frames, close } = openStream();
    const [long, short] = [call(), call()];
    const failed = expect(long).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    accept();
    await expect.poll(() => frames().length).toBe(2);
    const bytes = Buffer.alloc(33 * MEBIBYTE);
    part(1, bytes);
    part(1, bytes);
    part(1, bytes);
    await failed;
    receive(2, { $case: 'message', value: Buffer.from('short') });
    expect(String(await short)).toBe('short');
    await expect.poll(() => frames().at(-1)).toMatchObject({ callId: 1, kind: { $case: 'cancel' } });
    close();
  });

  it('fails the call whose part exceeds 256 MiB of waiting parts, and keeps the other calls', async () => {
    const { call, accept, part, receive, close } = openStream();
    const calls = Array.from({ length: 5 }, () => call());
    const failed = expect(calls[4]).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    accept();
    const bytes = Buffer.alloc(64 * MEBIBYTE);
    for (let callId = 1; callId <= 5; callId++) part(callId, bytes);
    await failed;
    for (let callId = 2; callId <= 4; callId++) receive(callId, { $case: 'error', value: anyError });
    receive(1, { $case: 'message', value: Buffer.from('end') });
    expect((await calls[0])?.length).toBe(64 * MEBIBYTE + 3);
    await Promise.allSettled(calls);
    close();
  });

  it('ignores frames of unknown calls, fails a call with a frame of an unknown kind, and keeps no memory', async () => {
    const { call, accept, receive, stream, close } = openStream();
    accept();
    const round = async () => {
      for (let index = 0; index < FRAMES; index++) {
        const callId = stream.openCalls > 0 && index % 4 === 0 ? index : FRAMES * 1_000 + index;
        receive(callId, index % 3 === 0 ? undefined : { $case: 'part', value: Buffer.alloc(100) });
        if (index % 100 === 0) await turn();
      }
      await turn();
      return heapBytes();
    };
    const failed = expect(call()).rejects.toMatchObject({ code: 'INTERNAL' });
    receive(1, undefined);
    await failed;
    await round();
    const before = await round();
    expect((await round()) - before).toBeLessThan(MEBIBYTE);
    expect(stream.openCalls).toBe(0);
    close();
  });
});

const anyError = { code: 'INTERNAL', message: 'failed', details: [], retryAfterSeconds: undefined };

describe('calls to a process that is stopped with SIGSTOP', () => {
  it('fail at their deadline, and later calls succeed when the process continues', async () => {
    const file = fileURLToPath(new URL('call-process.ts', import.meta.url));
    const child = spawn(process.execPath, [file, SECRET], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const [port] = await once(child.stdout, 'data');
    const channel = openChannel(`127.0.0.1:${Number(port)}`, { clock: systemClock });
    const options = { contract: AuthServiceDefinition, self: 'edge', secret: SECRET, clock: systemClock };
    const transport = channel.transport(AuthServiceDefinition);
    const patient = createClient({ ...options, transport });
    const hasty = createClient({ ...options, transport, timeoutMs: 300 });
    try {
      await patient.getUser({ userId: 'ask' });
      child.kill('SIGSTOP');
      const results = await Promise.all(
        Array.from({ length: 100 }, () =>
          hasty.getUser({ userId: 'ask' }).then(
            () => 'OK',
            ({ code }) => code,
          ),
        ),
      );
      expect(results).toEqual(results.map(() => 'DEADLINE_EXCEEDED'));
      child.kill('SIGCONT');
      expect(await patient.getUser({ userId: 'ask' })).toEqual({ user: undefined });
    } finally {
      channel.close();
      child.kill('SIGKILL');
      await exited;
    }
  });
});
