import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { json, startProductServer } from '../support/products/http-server.ts';
import { until } from '../support/wait.ts';

describe('startProductServer', () => {
  it('passes method, path, query, headers and the raw body', async () => {
    await using server = await startProductServer({
      handle: ({ method, path, query, headers, body }) =>
        json({ method, path, query: [...query], type: headers['content-type'], body: body.toString('hex') }),
    });
    const response = await fetch(`${server.url}/api/a?b=1&b=2`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: Buffer.from([0, 255]),
    });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({
      method: 'POST',
      path: '/api/a',
      query: [
        ['b', '1'],
        ['b', '2'],
      ],
      type: 'application/octet-stream',
      body: '00ff',
    });
  });

  it('ends the connection without a response for cut', async () => {
    await using server = await startProductServer({ handle: () => 'cut' });
    await expect(fetch(server.url)).rejects.toThrow('fetch failed');
  });

  it('reports an error of a handler as status 500 with its stack', async () => {
    await using server = await startProductServer({
      handle: () => {
        throw new Error('a defect of the server');
      },
    });
    const response = await fetch(server.url);
    expect([response.status, await response.text()]).toEqual([
      500,
      expect.stringContaining('a defect of the server'),
    ]);
  });

  it('aborts the signal of a request whose client leaves', async () => {
    let signal: AbortSignal | undefined;
    await using server = await startProductServer({
      handle: (request) => {
        signal = request.signal;
        return new Promise((resolve) => signal?.addEventListener('abort', () => resolve('cut')));
      },
    });
    const client = new AbortController();
    const response = fetch(server.url, { signal: client.signal });
    await until('the request arrives', () => signal);
    client.abort();
    await expect(response).rejects.toThrow('aborted');
    await until('the signal aborts', () => signal?.aborted);
  });

  it('accepts a WebSocket and refuses another with its status', async () => {
    await using server = await startProductServer({
      handle: () => json({}),
      upgrade: ({ path }) => (path === '/link' ? (socket) => socket.send('hello') : 403),
    });
    const accepted = new WebSocket(`${server.socketUrl}/link`);
    const [data] = await once(accepted, 'message');
    expect(String(data)).toBe('hello');
    const refused = new WebSocket(`${server.socketUrl}/other`);
    await expect(once(refused, 'open')).rejects.toThrow('403');
  });
});
