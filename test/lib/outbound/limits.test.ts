import type { Socket } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { advanceUntil, until } from '../../support/wait.ts';
import { problemOf, startRemote } from './remote-server.ts';

const MIB = 1024 ** 2;
const HEAD = 'HTTP/1.1 200 OK\r\n';

/** Sends the head after the request, and then the same bytes again and again until the client closes. */
const flood = (head: string, bytes: string | Buffer) => (socket: Socket) => {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('error', () => {}).on('drain', more);
  socket.once('data', () => {
    socket.write(head);
    more();
  });
};

/** Sends a text after the request and nothing more. */
const answer = (head: string) => (socket: Socket) =>
  void socket.on('error', () => {}).once('data', () => socket.write(head));

const read = (url: string, fetch: typeof globalThis.fetch) => fetch(url).then((response) => response.text());

describe('OutboundClient, limits', () => {
  it.each([
    ['a body with a length', `${HEAD}Content-Length: 99999999999\r\n\r\n`, Buffer.alloc(65_536, 'x')],
    ['a body in chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, `8000\r\n${'x'.repeat(32_768)}\r\n`],
    ['a body until the end of the connection', `${HEAD}\r\n`, Buffer.alloc(65_536, 'x')],
    ['a header', `${HEAD}X: `, Buffer.alloc(65_536, 'x')],
    ['headers', HEAD, 'X: y\r\n'.repeat(1_000)],
    ['trailers', `${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n`, 'X: y\r\n'.repeat(1_000)],
    [
      'empty gzip members',
      `${HEAD}Content-Encoding: gzip\r\n\r\n`,
      Buffer.concat(Array.from({ length: 1_000 }, () => gzipSync(''))),
    ],
  ])('ends a response with %s that never ends, and its connection', async (_, head, bytes) => {
    await using remote = await startRemote({ accept: flood(head, bytes) });
    const before = process.memoryUsage().rss;
    const fetch = remote.client.fetchWith({ responseBytes: 4 * MIB });
    expect(await problemOf(read('https://remote.test/', fetch))).toBe('too_large');
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);
    await until('the connection is closed', () => remote.sockets.size === 0);
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(64 * MIB))],
    ['deflate', deflateSync(Buffer.alloc(64 * MIB))],
    ['br', brotliCompressSync(Buffer.alloc(64 * MIB), { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } })],
    ['zstd', zstdCompressSync(Buffer.alloc(64 * MIB))],
    ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(64 * MIB)))],
  ])('ends a response in %s that expands too much', async (coding, bytes) => {
    await using remote = await startRemote({
      serve: (_, response) => void response.writeHead(200, { 'Content-Encoding': coding }).end(bytes),
    });
    const fetch = remote.client.fetchWith({ responseBytes: 1024 * MIB });
    let received = 0;
    const problem = await problemOf(
      fetch('https://remote.test/').then(async ({ body }) => {
        for await (const chunk of body ?? []) received += chunk.length;
      }),
    );
    expect(problem).toBe('too_large');
    expect(received).toBeLessThan(8 * MIB);
  });

  it('limits the bytes after decompression', async () => {
    const bytes = gzipSync(Buffer.alloc(512 * 1024));
    await using remote = await startRemote({
      serve: (_, response) => void response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bytes),
    });
    const outcome = (responseBytes: number) =>
      problemOf(
        read('https://remote.test/', remote.client.fetchWith({ responseBytes })).then((text) => text.length),
      );
    expect(await outcome(256 * 1024)).toBe('too_large');
    expect(await outcome(512 * 1024)).toBe(512 * 1024);
  });

  it('returns decoded bodies without the headers of their coding', async () => {
    await using remote = await startRemote({
      serve: (_, response) =>
        void response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('ok')),
    });
    const response = await remote.client.fetchWith()('https://remote.test/');
    expect(await response.text()).toBe('ok');
    expect(response.headers.get('content-encoding')).toBeNull();
  });

  it.each([
    ['accepts no TLS handshake', undefined, 10_000],
    ['never answers', answer(''), 60_000],
    ['stops within the headers', answer(`${HEAD}X: y`), 60_000],
    ['stops within the body', answer(`${HEAD}Content-Length: 9\r\n\r\nx`), 60_000],
    ['sends interim responses only', answer('HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)), 60_000],
  ])('ends a request when the server %s', async (_, accept, limitMs) => {
    await using remote = await startRemote({ accept: accept ?? answer('') });
    if (!accept) {
      const { dial } = remote.dialer;
      // The server waits for the client, and the client's bytes do not arrive.
      remote.dialer.dial = (address, port) => {
        const socket = dial(address, port);
        socket._write = (_chunk, _encoding, callback) => callback();
        return socket;
      };
    }
    const outcome = problemOf(read('https://remote.test/', remote.client.fetchWith({ totalMs: 900_000 })));
    let settled: unknown;
    void outcome.then((value) => {
      settled = value;
    });
    await until('the request is connected', () => remote.sockets.size === 1);
    let elapsedMs = 0;
    await advanceUntil(
      'the request ends',
      () => {
        remote.clock.advance(500);
        elapsedMs += 500;
      },
      () => settled !== undefined,
    );
    expect(settled).toBe('timed_out');
    expect(elapsedMs).toBeGreaterThanOrEqual(limitMs);
    await until('the connection is closed', () => remote.sockets.size === 0);
  });

  it('ends a response that sends one byte at a time after the total time', async () => {
    let connection: Socket | undefined;
    await using remote = await startRemote({
      accept: (socket) => {
        connection = socket;
        answer(`${HEAD}\r\n`)(socket);
      },
    });
    const fetch = remote.client.fetchWith({ silenceMs: 60_000, totalMs: 300_000 });
    const response = await fetch('https://remote.test/');
    const reader = response.body?.getReader();
    let elapsedMs = 0;
    let problem: unknown;
    while (problem === undefined) {
      connection?.write('x');
      problem = await reader?.read().then(
        ({ value }) => void expect(value?.length).toBeGreaterThan(0),
        (error) => error.problem,
      );
      remote.clock.advance(30_000);
      elapsedMs += 30_000;
    }
    expect(problem).toBe('timed_out');
    expect(elapsedMs).toBeGreaterThan(300_000 - 30_000);
    expect(remote.clock.pending).toBe(0);
  });

  it.each([
    ['is no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n\r\n'],
    ['has two lengths', `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`],
    ['has an invalid status', 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'],
    ['changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['has a damaged body', `${HEAD}Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nxxxx`],
    [
      'has too many codings',
      `${HEAD}Content-Encoding: gzip,gzip,gzip,gzip,gzip,gzip\r\nContent-Length: 0\r\n\r\n`,
    ],
  ])('reports a response that %s', async (_, head) => {
    await using remote = await startRemote({ accept: answer(head) });
    const problem = await problemOf(read('https://remote.test/', remote.client.fetchWith()));
    expect(problem).toBe('response_invalid');
  });

  it('reports a body that the server ends early', async () => {
    await using remote = await startRemote({
      accept: (socket) =>
        void socket.on('error', () => {}).once('data', () => socket.end(`${HEAD}Content-Length: 9\r\n\r\nx`)),
    });
    expect(await problemOf(read('https://remote.test/', remote.client.fetchWith()))).toBe('unreachable');
  });
});

describe('OutboundClient, aborted requests', () => {
  const reason = new Error('the caller has gone');

  it.each(['before the response', 'within the body'])(
    'closes the connection of a request aborted %s',
    async (when) => {
      const head = when === 'before the response' ? '' : `${HEAD}Content-Length: 9\r\n\r\nx`;
      let requests = 0;
      await using remote = await startRemote({
        accept: (socket) => void answer(head)(socket.once('data', () => requests++)),
      });
      const caller = new AbortController();
      const outcome = problemOf(
        remote.client
          .fetchWith()('https://remote.test/', { signal: caller.signal })
          .then((r) => r.text()),
      );
      await until('the request has arrived', () => requests === 1);
      caller.abort(reason);
      expect(await outcome).toBe(reason);
      await until('the connection is closed', () => remote.sockets.size === 0);
      expect(remote.clock.pending).toBe(0);
    },
  );

  it('sends nothing when the signal is aborted already', async () => {
    await using remote = await startRemote();
    const fetch = remote.client.fetchWith();
    expect(await problemOf(fetch('https://remote.test/', { signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    );
    expect(remote.dialled).toEqual([]);
  });

  it('closes the connection when the caller cancels the body', async () => {
    await using remote = await startRemote({ accept: flood(`${HEAD}\r\n`, 'x'.repeat(1_000)) });
    const response = await remote.client.fetchWith()('https://remote.test/');
    await response.body?.cancel();
    await until('the connection is closed', () => remote.sockets.size === 0);
    expect(remote.clock.pending).toBe(0);
  });

  it('keeps the connections of completed requests for the next ones', async () => {
    await using remote = await startRemote();
    for (let round = 0; round < 10; round++) await read('https://remote.test/', remote.client.fetchWith());
    // A response can end before its connection is free again.
    expect(remote.dialled.length).toBeLessThanOrEqual(2);
    expect(remote.clock.pending).toBe(0);
  });

  it('passes on events while the response goes on', async () => {
    let connection: Socket | undefined;
    await using remote = await startRemote({
      accept: (socket) => {
        connection = socket;
        answer(`${HEAD}Content-Type: text/event-stream\r\n\r\ndata: 1\n\n`)(socket);
      },
    });
    const response = await remote.client.fetchWith()('https://remote.test/');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('data: 1\n\n');
    connection?.write('data: 2\n\n');
    expect((await reader?.read())?.value).toBe('data: 2\n\n');
    await reader?.cancel();
  });
});
