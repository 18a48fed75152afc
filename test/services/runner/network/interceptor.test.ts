import { request as sendRequest } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  createFakeCredentials,
  openTunnel,
  PLACEHOLDER,
  PUBLIC,
  startInterceptingProxy,
  TOKEN_HEADER,
  VALUE,
} from './intercepting-proxy.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const headersOf = (headers: string[] = []): Record<string, string> =>
  Object.fromEntries(
    headers.flatMap((name, at) => (at % 2 ? [] : [[name.toLowerCase(), headers[at + 1] ?? '']])),
  );

describe('requests to a host with a credential', () => {
  it('carry the value in place of the placeholder, over one kept connection', async () => {
    await using system = await startInterceptingProxy();
    const agent = system.agentFor('variable.test', { keepAlive: true });
    const headers = [
      'Authorization',
      `token ${PLACEHOLDER}`,
      'Accept-Encoding',
      'gzip',
      'Connection',
      'X-Hop',
      'X-Hop',
      '1',
    ];
    for (const _ of [1, 2]) {
      const answer = await system.get('variable.test', '/a?b=c', { headers, agent });
      expect(answer).toMatchObject({ status: 200, body: 'from upstream' });
    }
    const [first, second] = system.seen;
    expect(first).toEqual(second);
    expect(first).toMatchObject({ method: 'GET', url: '/a?b=c' });
    const passed = headersOf(first?.headers);
    expect(passed).toMatchObject({
      authorization: `token ${VALUE}`,
      host: 'variable.test',
      'accept-encoding': 'identity',
    });
    expect(passed).not.toHaveProperty('x-hop');
    expect(system.connections).toBe(1);
    expect(system.credentials.needs).toEqual(Array(2).fill({ host: 'variable.test', variable: 'TOKEN' }));
    expect(system.metrics).toEqual(Array(2).fill('variable forwarded'));
    expect(system.lines).toEqual(
      Array(2).fill({
        method: 'GET',
        host: 'variable.test',
        path: '/a',
        status: 200,
        bytes: 13,
        ms: expect.any(Number),
      }),
    );
  });

  it('carry attached headers in place of those of the client', async () => {
    await using system = await startInterceptingProxy();
    const headers = ['authorization', 'Bearer forged', 'AUTHORIZATION', `Basic ${base64('a:b')}`];
    expect((await system.get('header.test', '/', { headers })).status).toBe(200);
    const passed = system.seen[0]?.headers.filter(
      (_, at, all) => all[at - 1]?.toLowerCase() === 'authorization',
    );
    expect(passed).toEqual([TOKEN_HEADER]);
  });

  it('report a 401 for an attached header, and leave it to the program to send the request again', async () => {
    const statuses = [401, 200, 403, 401];
    await using system = await startInterceptingProxy({
      answer: (_, response) => response.writeHead(statuses.shift() ?? 500).end('from upstream'),
    });
    const answers: [number, number][] = [];
    for (let request = 0; request < 3; request++) {
      const { status } = await system.get('header.test', '/');
      answers.push([status, system.credentials.refusals]);
    }
    expect(answers).toEqual([
      [401, 1],
      [200, 1],
      [403, 1],
    ]);
    const headers = ['Authorization', `token ${PLACEHOLDER}`];
    expect((await system.get('variable.test', '/', { headers })).status).toBe(401);
    expect(system.credentials.refusals).toBe(1);
    expect(system.seen).toHaveLength(4);
  });

  it('pass bodies on, with a length and in chunks', async () => {
    await using system = await startInterceptingProxy();
    const large = 'x'.repeat(300_000);
    for (const body of ['short', large]) await system.get('variable.test', '/', { method: 'POST', body });
    const chunked =
      'POST / HTTP/1.1\r\nHost: variable.test\r\nConnection: close, content-length\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
    await system.sendRaw('variable.test', chunked);
    await system.sendRaw('variable.test', chunked.replace('POST', 'GET'));
    await system.get('variable.test', '/', { method: 'POST' });
    expect(system.seen.map(({ method, body }) => `${method} ${body}`)).toEqual([
      'POST short',
      `POST ${large}`,
      'POST abc',
      'GET abc',
      'POST ',
    ]);
  });

  it.each([
    ['in the path', `/${PLACEHOLDER}`, []],
    ['in another query member', `/?q=${PLACEHOLDER}`, []],
    ['in another header', '/', ['X-Other', PLACEHOLDER]],
    ['in the cookie', '/', ['Cookie', `a=${PLACEHOLDER}`]],
    ['in the body', '/', [], `a=${PLACEHOLDER}`],
    [
      'at the end of the first 64 KiB of the body',
      '/',
      [],
      `${'x'.repeat(65_536 - PLACEHOLDER.length)}${PLACEHOLDER}`,
    ],
  ])('are refused with 403 when the placeholder is %s', async (_, path, headers, body = '') => {
    await using system = await startInterceptingProxy();
    const answer = await system.get('variable.test', path, { method: 'POST', headers, body });
    expect(answer.status).toBe(403);
    expect(answer.body).toContain('The placeholder of TOKEN is allowed only in');
    expect(system.seen).toEqual([]);
    expect(system.credentials.needs).toEqual([]);
  });

  it('are refused while no turn of the session runs, also beside another session', async () => {
    await using system = await startInterceptingProxy();
    const headers = ['X-Key', PLACEHOLDER];
    using _other = system.interceptor.enter(createFakeCredentials('ses_2', `other${PLACEHOLDER.slice(5)}`));
    system.entered[Symbol.dispose]();
    const answer = await system.get('variable.test', '/', { headers });
    expect(answer).toMatchObject({ status: 403, body: expect.stringContaining('only while a turn') });
    expect(system.seen).toEqual([]);
  });

  it('say why a credential is not lent', async () => {
    await using system = await startInterceptingProxy();
    const headers = ['X-Key', PLACEHOLDER];
    system.credentials.answer = { kind: 'missing', reason: 'is disabled', isTemporary: false };
    expect(await system.get('variable.test', '/', { headers })).toMatchObject({
      status: 403,
      body: 'The credential TOKEN is disabled.\n',
    });
    system.credentials.answer = { kind: 'missing', reason: 'is not available now', isTemporary: true };
    expect((await system.get('header.test', '/')).status).toBe(503);
    expect(system.seen).toEqual([]);
  });
});

describe('malformed and mismatched requests to a host with a credential', () => {
  const HOST = 'Host: variable.test\r\n';
  it.each([
    [
      'two kinds of length',
      400,
      `POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', 400, `POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
    ['a folded header', 400, `GET / HTTP/1.1\r\n${HOST}X-A: b\r\n c\r\n\r\n`],
    ['a bare line feed', 400, 'GET / HTTP/1.1\r\nHost: variable.test\nX-A: b\r\n\r\n'],
    ['a space before a colon', 400, `GET / HTTP/1.1\r\n${HOST}X-A : b\r\n\r\n`],
    ['an HTTP/2 preface', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a request of HTTP/0.9', 400, 'GET /\r\n\r\n'],
    ['two Host headers', 400, `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`],
    ['an absolute URL', 400, `GET https://header.test/ HTTP/1.1\r\n${HOST}\r\n`],
    [
      'a second request before the answer',
      400,
      `GET /1 HTTP/1.1\r\n${HOST}\r\nGET /2 HTTP/1.1\r\n${HOST}\r\n`,
    ],
    ['another Host', 403, 'GET / HTTP/1.1\r\nHost: header.test\r\n\r\n'],
    ['another port in Host', 403, 'GET / HTTP/1.1\r\nHost: variable.test:8443\r\n\r\n'],
    ['CONNECT', 501, `CONNECT header.test:443 HTTP/1.1\r\n${HOST}\r\n`],
    ['an upgrade', 501, `GET / HTTP/1.1\r\n${HOST}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`],
    ['an upgrade without its connection header', 501, `GET / HTTP/1.1\r\n${HOST}Upgrade: h2c\r\n\r\n`],
    [
      'another transfer encoding',
      501,
      `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    ],
  ])('with %s are answered with %i and the connection is closed', async (_, status, text) => {
    await using system = await startInterceptingProxy();
    const received = await system.sendRaw('variable.test', text);
    expect(received.split(' ')[1]).toBe(String(status));
    expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(system.seen).toEqual([]);
  });

  it('with another server name in the handshake are answered with 403', async () => {
    await using system = await startInterceptingProxy();
    for (const servername of ['header.test', '']) {
      const agent = system.agentFor('variable.test', { servername });
      const answer = await system.get('variable.test', '/', { agent });
      expect(answer).toMatchObject({ status: 403, body: expect.stringContaining('server name') });
    }
    expect(system.seen).toEqual([]);
  });

  it('with a protocol other than http/1.1 fail in the handshake', async () => {
    await using system = await startInterceptingProxy();
    await expect(system.open('variable.test', { alpn: ['h2'] })).rejects.toThrow();
    const agent = system.agentFor('variable.test', { alpn: [] });
    expect((await system.get('variable.test', '/', { agent })).status).toBe(200);
  });

  it('on port 80, by address or over plain http: get no tunnel', async () => {
    await using system = await startInterceptingProxy({ allowed: ['variable.test', 'plain.test', PUBLIC] });
    for (const target of ['variable.test:80', `${PUBLIC}:443`])
      expect([target, (await openTunnel(system.port, target)).status]).toEqual([target, 403]);
    for (const url of ['http://variable.test/', `http://${PUBLIC}/`]) {
      const outgoing = sendRequest({
        host: '127.0.0.1',
        port: system.port,
        path: url,
        headers: { Host: 'x' },
      }).end();
      const status = await new Promise((resolve) =>
        outgoing.once('response', (answer) => resolve(answer.resume().statusCode)),
      );
      expect([url, status]).toEqual([url, 403]);
    }
    expect(system.seen).toEqual([]);
  });

  it('to a host that the environment does not allow are refused', async () => {
    await using system = await startInterceptingProxy({ allowed: ['plain.test'] });
    expect((await openTunnel(system.port, 'variable.test:443')).status).toBe(403);
  });
});

describe('TlsInterceptor', () => {
  it('leaves the connections to other hosts to the tunnel', async () => {
    await using system = await startInterceptingProxy();
    const agent = system.agentFor('plain.test', { ca: system.trusted.cert });
    expect((await system.get('plain.test', '/', { agent, headers: ['X-Key', PLACEHOLDER] })).status).toBe(
      200,
    );
    expect(headersOf(system.seen[0]?.headers)).toMatchObject({ 'x-key': PLACEHOLDER });
    expect(system.metrics).toEqual([]);
  });

  it('answers 502 for a host with an invalid certificate, and never downgrades', async () => {
    await using system = await startInterceptingProxy();
    const answer = await system.get('badcert.test', '/', { headers: ['X-Key', PLACEHOLDER] });
    expect(answer).toMatchObject({
      status: 502,
      body: 'The TLS certificate or handshake of the host is invalid.\n',
    });
    expect(system.seen).toEqual([]);
  });

  it('sends an idempotent request again when the host has closed the kept connection', async () => {
    await using system = await startInterceptingProxy({
      answer: (incoming, response) => {
        response.end('once');
        response.once('finish', () => incoming.socket.destroySoon());
      },
    });
    const agent = system.agentFor('variable.test', { keepAlive: true });
    for (const _ of [1, 2, 3]) expect((await system.get('variable.test', '/', { agent })).body).toBe('once');
  });

  it('closes its connections', async () => {
    await using system = await startInterceptingProxy();
    const socket = await system.open('variable.test');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    system.proxy.close();
    await closed;
  });
});

describe('answers of a host with a credential', () => {
  const headers = ['X-Key', PLACEHOLDER];
  const echo = `before ${VALUE} after`;

  it.each([
    ['plain', undefined, Buffer.from(echo)],
    ['gzip', 'gzip', gzipSync(echo)],
    ['deflate', 'deflate', deflateSync(echo)],
    ['br', 'br', brotliCompressSync(echo)],
    ['zstd', 'zstd', zstdCompressSync(echo)],
    ['base64', undefined, Buffer.from(base64(`x${VALUE}`))],
  ])('that contain the value (%s) become 502', async (_, coding, body) => {
    await using system = await startInterceptingProxy({
      answer: (_, response) =>
        response.writeHead(200, coding ? { 'Content-Encoding': coding } : {}).end(body),
    });
    const answer = await system.get('variable.test', '/', { headers });
    expect(answer).toMatchObject({ status: 502, body: expect.stringContaining('contained a credential') });
    expect(system.credentials.echoes).toEqual(['crd_variable variable.test']);
    expect(system.metrics).toEqual(['variable echo']);
  });

  it('that contain the value in a header become 502', async () => {
    await using system = await startInterceptingProxy({
      answer: (_, response) =>
        response.writeHead(302, { Location: `/?q=${encodeURIComponent(VALUE)}` }).end(),
    });
    expect((await system.get('variable.test', '/', { headers })).status).toBe(502);
  });

  it('that contain the value later are cut before it', async () => {
    const beginning = 'x'.repeat(200_000);
    await using system = await startInterceptingProxy({
      answer: (_, response) => response.end(`${beginning}${echo}`),
    });
    const answer = await system.get('variable.test', '/', { headers });
    expect(answer).toMatchObject({ status: 200, isComplete: false });
    expect(answer.body).not.toContain(VALUE.slice(0, 8));
    expect(system.credentials.echoes).toEqual(['crd_variable variable.test']);
  });

  it('to a later request without the credential are searched, too', async () => {
    await using system = await startInterceptingProxy({
      answer: (incoming, response) => response.end(incoming.url === '/stored' ? echo : 'ok'),
    });
    expect((await system.get('variable.test', '/store', { headers })).status).toBe(200);
    expect((await system.get('variable.test', '/stored')).status).toBe(502);
  });

  it('are decoded, or refused when the proxy cannot read them', async () => {
    const bodies: Record<string, [string, Buffer]> = {
      '/gzip': ['gzip', gzipSync('decoded')],
      '/unknown': ['compress', Buffer.from('x')],
      '/twice': ['gzip, gzip', gzipSync(gzipSync('x'))],
      '/bomb': ['gzip', gzipSync(Buffer.alloc(64 * 1024 * 1024))],
    };
    await using system = await startInterceptingProxy({
      answer: ({ url = '' }, response) => {
        const [coding, body] = bodies[url] ?? ['', Buffer.alloc(0)];
        response.writeHead(200, { 'Content-Encoding': coding, ETag: '"1"' }).end(body);
      },
    });
    const decoded = await system.get('variable.test', '/gzip');
    expect(decoded).toMatchObject({ status: 200, body: 'decoded', headers: { etag: '"1"' } });
    expect(decoded.headers).not.toHaveProperty('content-encoding');
    for (const path of ['/unknown', '/twice'])
      expect((await system.get('variable.test', path)).status).toBe(502);
    const bomb = await system.get('variable.test', '/bomb');
    expect(bomb.isComplete).toBe(false);
    expect(bomb.body.length).toBeLessThan(16 * 1024 * 1024);
  });

  it('keep their status, headers and repeated headers, and redirects are left to the client', async () => {
    await using system = await startInterceptingProxy({
      answer: (_, response) =>
        response
          .writeHead(307, { Location: 'https://plain.test/', 'Set-Cookie': ['a=1', 'b=2'] })
          .end('moved'),
    });
    const answer = await system.get('header.test', '/');
    expect(answer).toMatchObject({
      status: 307,
      body: 'moved',
      headers: { location: 'https://plain.test/', 'set-cookie': ['a=1', 'b=2'] },
    });
    expect(system.seen).toHaveLength(1);
  });
});
