import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../lib/clock.ts';
import { type HostPattern, readHostPattern } from '../../../../lib/hosts.ts';
import { createEgressPolicy } from '../../../../services/runner/kernel/network/egress-policy.ts';
import { HttpProxy } from '../../../../services/runner/kernel/network/http-proxy.ts';

const PUBLIC = '93.184.216.34';

/** Starts a proxy, and one upstream server that receives the connections to all addresses. */
async function startProxy(allowed: string[], names: Record<string, string[]>) {
  const seen: { url: string | undefined; headers: string[]; body: string }[] = [];
  const upstream = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      seen.push({ url: incoming.url, headers: incoming.rawHeaders, body: Buffer.concat(chunks).toString() });
      response.writeHead(201, { 'X-Upstream': 'yes', Connection: 'close, X-Private', 'X-Private': 'hop' });
      response.end('from upstream');
    });
  });
  const dialled: string[] = [];
  const refused: string[] = [];
  const patterns = allowed.map((text) => readHostPattern(text) as HostPattern);
  const policy = createEgressPolicy(patterns, {
    async resolve(host) {
      const addresses = names[host];
      if (!addresses) throw new Error('ENOTFOUND');
      return addresses;
    },
    dial(address, port) {
      dialled.push(`${address} ${port}`);
      return connect(portOf(upstream), '127.0.0.1');
    },
  });
  const proxy = new HttpProxy({
    policy,
    clock: systemClock,
    onRefusal: (host, port) => void refused.push(`${host} ${port}`),
  });
  const listener = createTcpServer((client) => proxy.accept(client));
  for (const server of [upstream, listener])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(listener),
    upstream,
    proxy,
    seen,
    dialled,
    refused,
    async [Symbol.asyncDispose]() {
      proxy.close();
      for (const server of [listener, upstream]) await new Promise((resolve) => server.close(resolve));
    },
  };
}

const portOf = (server: Pick<Server, 'address'>) => (server.address() as AddressInfo).port;

interface Answer {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

function get(
  port: number,
  url: string,
  options: { method?: string; headers?: string[]; body?: string } = {},
) {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { method = 'GET', headers = ['Host', 'another-host.test'], body } = options;
  const clientRequest = request({
    host: '127.0.0.1',
    port,
    path: url,
    method,
    headers,
    setHost: false,
    agent: false,
  });
  clientRequest.on('error', reject);
  clientRequest.on('response', async (incoming) => {
    let text = '';
    for await (const chunk of incoming) text += chunk;
    resolve({ status: incoming.statusCode, headers: incoming.headers, body: text });
  });
  clientRequest.end(body);
  return promise;
}

async function tunnel(port: number, target: string): Promise<{ status: string; socket: Socket }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  return { status: first.toString().split(' ')[1] ?? '', socket };
}

describe('HttpProxy', () => {
  it('forwards requests to allowed hosts with the right Host header and without hop-by-hop headers', async () => {
    await using proxy = await startProxy(['allowed.test'], { 'allowed.test': [PUBLIC] });
    const headers = [
      'Host',
      'inner.test',
      'Proxy-Authorization',
      'Basic x',
      'Connection',
      'X-Hop',
      'X-Hop',
      '1',
      'X-End',
      '2',
    ];
    const answer = await get(proxy.port, 'http://allowed.test/path?q=1', {
      method: 'POST',
      headers,
      body: 'sent',
    });
    expect(answer).toMatchObject({ status: 201, body: 'from upstream' });
    expect(answer.headers).toMatchObject({ 'x-upstream': 'yes' });
    expect(answer.headers).not.toHaveProperty('x-private');
    expect(proxy.seen).toMatchObject([{ url: '/path?q=1', body: 'sent' }]);
    const [{ headers: passed = [] } = {}] = proxy.seen;
    expect(passed).toContain('X-End');
    expect(passed[passed.indexOf('Host') + 1]).toBe('allowed.test');
    for (const name of ['Proxy-Authorization', 'X-Hop', 'inner.test']) expect(passed).not.toContain(name);
    expect(proxy.dialled).toEqual([`${PUBLIC} 80`]);
  });

  it.each(['DELETE', 'GET', 'POST'])('keeps the body of a %s request that has no length', async (method) => {
    await using proxy = await startProxy(['allowed.test'], { 'allowed.test': [PUBLIC] });
    const headers = ['Host', 'allowed.test', 'Transfer-Encoding', 'chunked'];
    const body = 'GET /smuggled HTTP/1.1\r\nHost: allowed.test\r\n\r\n';
    const answer = await get(proxy.port, 'http://allowed.test/path', { method, headers, body });
    expect(answer.status).toBe(201);
    expect(proxy.seen).toMatchObject([{ url: '/path', body }]);
  });

  it('opens tunnels to allowed hosts', async () => {
    await using proxy = await startProxy(['allowed.test', '*.below.test'], {
      'allowed.test': [PUBLIC],
      'a.below.test': [PUBLIC],
    });
    for (const target of ['allowed.test:443', 'ALLOWED.test.:443', 'a.below.test:443']) {
      const { status, socket } = await tunnel(proxy.port, target);
      expect([target, status]).toEqual([target, '200']);
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      const received = await new Promise<string>((resolve) => {
        let text = '';
        socket.on('data', (chunk) => {
          text += chunk;
        });
        socket.on('close', () => resolve(text));
      });
      expect(received).toContain('from upstream');
    }
    expect(proxy.dialled).toEqual(Array(3).fill(`${PUBLIC} 443`));
  });

  it('refuses other hosts and other ports with 403', async () => {
    const names = {
      'allowed.test': [PUBLIC],
      'other.test': [PUBLIC],
      'below.test': [PUBLIC],
      'x.ported.test': [PUBLIC],
    };
    await using proxy = await startProxy(['allowed.test', '*.below.test', '*.ported.test:8443'], names);
    const closed = [
      'other.test:443',
      'allowed.test:22',
      'below.test:443',
      'notallowed.test:443',
      'allowed.test.evil.test:443',
      'evilbelow.test:443',
      'x.ported.test:443',
      `${PUBLIC}:443`,
      '[::1]:443',
      'allowed.test',
      'allowed.test:99999',
    ];
    for (const target of closed) {
      const { status, socket } = await tunnel(proxy.port, target);
      expect([target, status]).toEqual([target, '403']);
      socket.destroy();
    }
    expect((await tunnel(proxy.port, 'x.ported.test:8443')).status).toBe('200');
    for (const url of [
      'http://other.test/',
      '/',
      'https://allowed.test/',
      'ftp://allowed.test/',
      'http://allowed.test:8080/',
    ])
      expect([url, (await get(proxy.port, url)).status]).toEqual([url, 403]);
    expect(proxy.dialled).toEqual([`${PUBLIC} 8443`]);
  });

  it('refuses hosts with an address that is not public or belongs to this machine', async () => {
    const own = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).map(({ address }) => address),
    );
    const inner = [
      '127.0.0.1',
      '10.0.0.1',
      '172.16.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.100.100.200',
      '0.0.0.0',
      '::1',
      '::',
      'fe80::1',
      'fd00:ec2::254',
      '::ffff:169.254.169.254',
      '::ffff:127.0.0.1',
      '64:ff9b::a9fe:a9fe',
      '2002:7f00:1::',
      '168.63.129.16',
      ...own,
    ];
    for (const address of inner) {
      await using proxy = await startProxy(['allowed.test'], { 'allowed.test': [address] });
      expect([address, (await tunnel(proxy.port, 'allowed.test:443')).status]).toEqual([address, '403']);
      expect(proxy.dialled).toEqual([]);
    }
    await using mixed = await startProxy(['allowed.test'], { 'allowed.test': [PUBLIC, '127.0.0.1'] });
    expect((await get(mixed.port, 'http://allowed.test/')).status).toBe(403);
    expect(mixed.dialled).toEqual([]);
  });

  it('resolves a name once per request and connects to the checked address', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    const names = new Proxy<Record<string, string[]>>({}, { get: () => answers.shift() });
    await using proxy = await startProxy(['rebinding.test'], names);
    expect((await get(proxy.port, 'http://rebinding.test/')).status).toBe(201);
    expect((await get(proxy.port, 'http://rebinding.test/')).status).toBe(403);
    expect(proxy.dialled).toEqual([`${PUBLIC} 80`]);
  });

  it('reports refused connections by host and port only', async () => {
    await using proxy = await startProxy(['allowed.test'], {});
    await get(proxy.port, 'http://user:password@other.test/path?token=secret');
    await get(proxy.port, 'http://allowed.test/');
    expect(proxy.refused).toEqual(['other.test 80', 'allowed.test 80']);
  });

  it('closes open tunnels when it is closed', async () => {
    await using proxy = await startProxy(['allowed.test'], { 'allowed.test': [PUBLIC] });
    const { socket } = await tunnel(proxy.port, 'allowed.test:443');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    proxy.proxy.close();
    await closed;
  });

  it.each([
    ['is refused a tunnel', 'CONNECT other.test:443 HTTP/1.1\r\nHost: other.test\r\n\r\n'],
    ['has a tunnel', 'CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test\r\n\r\n'],
    ['is refused a page', 'GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n'],
    ['requests another protocol', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
  ])('keeps serving after a client that %s resets the connection', async (_, request) => {
    await using proxy = await startProxy(['allowed.test'], { 'allowed.test': [PUBLIC] });
    for (const isAnswered of [true, false]) {
      const socket = connect(proxy.port, '127.0.0.1').resume();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(request);
      await new Promise((resolve) => socket.once(isAnswered ? 'data' : 'connect', resolve));
      socket.resetAndDestroy();
      await closed;
      expect((await get(proxy.port, 'http://allowed.test/')).status).toBe(201);
    }
  });

  it('keeps serving after malformed requests', async () => {
    await using proxy = await startProxy(['allowed.test'], { 'allowed.test': [PUBLIC] });
    for (const text of [
      '\0\0\0',
      'GET\r\n\r\n',
      `GET http://${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
      'CONNECT : HTTP/1.1\r\nHost: x\r\n\r\n',
    ]) {
      const socket = connect(proxy.port, '127.0.0.1');
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('error', () => {}).resume();
      socket.end(text);
      await closed;
    }
    expect((await get(proxy.port, 'http://allowed.test/')).status).toBe(201);
  });
});
