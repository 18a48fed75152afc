import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { hexOf, readSendQueues } from '../../../edge/streaming/send-queues.ts';
import { until } from '../../support/wait.ts';

describe('readSendQueues', () => {
  it.each([
    ['127.0.0.1', '0100007F:1F90'],
    ['::ffff:10.1.2.3', '0302010A:1F90'],
    ['::1', '00000000000000000000000001000000:1F90'],
    ['2001:db8::1:2', 'B80D0120000000000000000002000100:1F90'],
  ])('finds the address %s as %s', (address, expected) => {
    expect(hexOf(address, 8080)).toBe(expected);
  });

  it.runIf(process.platform === 'linux').each(['127.0.0.1', '::'])(
    'returns the bytes that the client of a listener on %s has not read',
    async (host) => {
      await using stack = new AsyncDisposableStack();
      const server = createServer().listen(0, host);
      await once(server, 'listening');
      const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
      const [accepted]: [Socket] = (await once(server, 'connection')) as [Socket];
      stack.defer(() => {
        client.destroy();
        accepted.destroy();
        server.close();
      });
      const queueOf = async () => (await readSendQueues())(accepted);
      expect(await queueOf()).toBe(0);
      accepted.write(Buffer.alloc(64 * 1024 * 1024));
      const full = await until('the send queue is full', async () => (await queueOf()) || undefined);
      expect(full).toBeGreaterThan(0);
      client.resume();
      await until('the client has read everything', async () => (await queueOf()) === 0);
    },
  );
});
