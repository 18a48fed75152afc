import { describe, expect, it } from 'vitest';
import { openChannel, serveGrpc } from '../../../lib/grpc/network.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';

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
  const channel = openChannel(`127.0.0.1:${server.port}`);
  stack.defer(() => channel.close());
  return { server, channel, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('grpc.health.v1.Health/Check', () => {
  it('says that a service is well which finds itself well', async () => {
    await using opened = await open();
    await opened.channel.check(AuthServiceDefinition);
  });

  it('asks each time anew', async () => {
    let isWell = false;
    await using opened = await open(async () => {
      if (!isWell) throw new Error('no database');
    });
    const unavailable = { code: 'DEPENDENCY_UNAVAILABLE' };
    await expect(opened.channel.check(AuthServiceDefinition)).rejects.toMatchObject(unavailable);
    isWell = true;
    await opened.channel.check(AuthServiceDefinition);
    isWell = false;
    await expect(opened.channel.check(AuthServiceDefinition)).rejects.toMatchObject(unavailable);
  });

  it('knows only what is served there', async () => {
    await using opened = await open();
    await expect(opened.channel.check(AgentsServiceDefinition)).rejects.toThrow();
  });

  it('fails when nobody is there', async () => {
    await using opened = await open();
    await opened.server.stop(100);
    await expect(opened.channel.check(AuthServiceDefinition)).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
  });
});
