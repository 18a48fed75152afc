import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { exchange, openRaw, parseResponse } from '../support/raw-http.ts';
import { type System, startSystem } from '../support/system.ts';
import { expectHeaders, expectRefusal, expectSuccess, readResponse } from './envelope.ts';

const ABSENT = 'agt_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

describe('every response of the edge', () => {
  let system: System;
  let api: Api;
  let host: string;
  beforeAll(async () => {
    // A short timeout keeps the test of slow clients short.
    system = await startSystem({ SERVICE_REQUEST_TIMEOUT_SECONDS: '1' });
    api = createApi(system.url);
    host = new URL(system.url).host;
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const request = async (path: string, init: RequestInit = {}) =>
    readResponse(await fetch(system.url + path, init));
  const wire = (lines: string[], body = '') =>
    exchange(system.url, `${[...lines, `Host: ${host}`, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);

  it.each([
    ['GET', '/api/v1/agents', undefined],
    ['GET', '/api/v1/sessions', undefined],
    ['POST', '/api/v1/agents', { name: 'A', model: 'rehearsal/echo' }],
    ['GET', '/livez', undefined],
    ['GET', '/readyz', undefined],
    ['GET', '/readyz?verbose', undefined],
    ['GET', '/healthz', undefined],
  ])('%s %s returns the success envelope', async (method, path, body) => {
    const json = { 'Content-Type': 'application/json' };
    expectSuccess(
      await request(path, body ? { method, headers: json, body: JSON.stringify(body) } : { method }),
    );
  });

  it.each(['/', '/docs', '/docs/reference.js', '/openapi.json', '/llms.txt', '/metrics'])(
    'GET %s has the common headers',
    async (path) => {
      const response = await request(path, { redirect: 'manual' });
      expectHeaders(response);
      expect([200, 302]).toContain(response.status);
    },
  );

  it.each([
    '/nowhere',
    '/api/v1',
    '/api/v1/',
    '/api/v1/agents/',
    '/api/v1//agents',
    '/api/v1/agents//sessions',
    '/api/v1/admin/agents//deployments',
    '/api/v2/agents',
    '/API/v1/agents',
    '/api/v1/agents;x=1',
    '/docs/',
    '/docs/../etc/passwd',
    '/.env',
  ])('GET %s returns ROUTE_NOT_FOUND', async (path) => {
    const response = await wire([`GET ${path} HTTP/1.1`]);
    expect(response.status).toBe(404);
    expectRefusal(response);
  });

  it.each([
    ['PUT', '/api/v1/agents', 'GET, HEAD, POST'],
    ['DELETE', '/api/v1/agents', 'GET, HEAD, POST'],
    ['OPTIONS', '/api/v1/agents', 'GET, HEAD, POST'],
    ['TRACE', '/api/v1/agents', 'GET, HEAD, POST'],
    ['PROPFIND', '/api/v1/agents', 'GET, HEAD, POST'],
    ['QUERY', '/api/v1/agents', 'GET, HEAD, POST'],
    ['POST', `/api/v1/agents/${ABSENT}`, 'DELETE, GET, HEAD, PATCH'],
    ['GET', `/api/v1/agents/${ABSENT}/conversations`, 'POST'],
    ['GET', '/api/v1/deployments/dep_1/trigger', 'POST'],
    ['POST', '/livez', 'GET, HEAD'],
  ])('%s %s returns 405 with the allowed methods', async (method, path, allow) => {
    for (const type of ['application/json', ';;;']) {
      const response = await wire([
        `${method} ${path} HTTP/1.1`,
        `Content-Type: ${type}`,
        'Content-Length: 0',
      ]);
      expectRefusal(response, 'METHOD_NOT_ALLOWED');
      expect(response.headers.get('allow')).toBe(allow);
    }
  });

  it.each([
    ['bad percent-encoding', '/api/v1/agents/%zz', 'INVALID_REQUEST'],
    ['an over-long parameter', `/api/v1/agents/${'x'.repeat(5_000)}`, 'URI_TOO_LONG'],
    ['NUL in a parameter', '/api/v1/agents/%00', 'AGENT_NOT_FOUND'],
    ['a slash in a parameter', '/api/v1/agents/..%2f..', 'AGENT_NOT_FOUND'],
    ['text that is not ASCII', '/api/v1/agents/%F0%9F%91%8B', 'AGENT_NOT_FOUND'],
    ['no form of UTF-8', '/api/v1/agents/%ff', 'INVALID_REQUEST'],
  ] as const)('%s in the path', async (_, path, code) => {
    expectRefusal(await wire([`GET ${path} HTTP/1.1`]), code);
  });

  it.each([
    ['no HTTP at all', 'hello\r\n\r\n', 'INVALID_REQUEST'],
    ['an unknown method', 'FOO / HTTP/1.1\r\n\r\n', 'INVALID_REQUEST'],
    ['a TLS handshake', Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3]), 'INVALID_REQUEST'],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n', 'INVALID_REQUEST'],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n', 'INVALID_REQUEST'],
    ['two lengths', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 'INVALID_REQUEST'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'INVALID_REQUEST',
    ],
    ['too many header bytes', `GET / HTTP/1.1\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 'HEADERS_TOO_LARGE'],
    ['an endless path', `GET /${'y'.repeat(200_000)}`, 'HEADERS_TOO_LARGE'],
  ] as const)('responds to invalid HTTP and closes the connection: %s', async (_, bytes, code) => {
    const response = await exchange(system.url, bytes as string);
    expectRefusal(response, code);
    expect(response.headers.get('connection')).toBe('close');
  });

  it('returns HOST_NOT_ALLOWED for an HTTP/1.0 request without Host', async () => {
    expectRefusal(await exchange(system.url, 'GET /livez HTTP/1.0\r\n\r\n'), 'HOST_NOT_ALLOWED');
  });

  it('ignores unknown expectations', async () => {
    expectSuccess(await wire(['GET /livez HTTP/1.1', 'Expect: the-unexpected']));
  });

  it.concurrent.each(['POST /api/v1/agents', 'POST /api/v1/deployments/dep_1/trigger', 'POST /nowhere'])(
    'times out a body that arrives too slowly: %s',
    async (line) => {
      const connection = openRaw(system.url);
      const head = [line, `Host: ${host}`, 'Content-Type: application/json', 'Content-Length: 1000'];
      connection.send(`${head.join('\r\n').replace(line, `${line} HTTP/1.1`)}\r\n\r\n{`);
      const drip = setInterval(() => connection.send(' '), 50);
      const answer = parseResponse(await connection.rest());
      clearInterval(drip);
      // A route that does not exist responds without reading the body.
      expectRefusal(answer, line.endsWith('nowhere') ? 'ROUTE_NOT_FOUND' : 'REQUEST_TIMEOUT');
    },
  );

  it.concurrent('times out headers that arrive too slowly', async () => {
    const connection = openRaw(system.url);
    connection.send('GET /livez HTTP/1.1\r\n');
    const drip = setInterval(() => connection.send('X: y\r\n'), 50);
    const answer = parseResponse(await connection.rest());
    clearInterval(drip);
    expectRefusal(answer, 'REQUEST_TIMEOUT');
  });

  it('HEAD returns the headers of GET without a body', async () => {
    const session = await api.post(`/agents/${await api.createAgent()}/conversations`);
    const stream = `/api/v1/sessions/${session.body.data.session_id}/events/stream`;
    for (const path of ['/api/v1/agents', '/readyz', '/openapi.json', stream]) {
      const response = await wire([`HEAD ${path} HTTP/1.1`]);
      expect(response).toMatchObject({ status: 200, text: '' });
      expectHeaders(response);
    }
    const agent = await api.createAgent({ description: 'long enough to be compressed '.repeat(50) });
    for (const path of [
      `/api/v1/agents/${agent}`,
      '/openapi.json',
      '/docs',
      '/docs/reference.js',
      '/llms.txt',
    ])
      for (const encoding of ['identity', 'gzip']) {
        const headersOf = async (method: string) => {
          const answer = await fetch(system.url + path, { method, headers: { 'accept-encoding': encoding } });
          const own = [
            'date',
            'traceparent',
            'x-request-id',
            'transfer-encoding',
            'connection',
            'keep-alive',
          ];
          return [...answer.headers].filter(([name]) => !own.includes(name));
        };
        expect(await headersOf('HEAD'), `${path}, ${encoding}`).toEqual(await headersOf('GET'));
      }
  });

  it('continues a valid trace and replaces a malformed one', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const given = { traceparent: `00-${trace}-b7ad6b7169203331-01` };
    const response = await request('/livez', { headers: given });
    expect(response.headers.get('traceparent')).toMatch(new RegExp(`^00-${trace}-(?!b7ad6b7169203331)`));
    for (const traceparent of ['nonsense', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, `ff-${trace}-x-01`])
      expectHeaders(await request('/livez', { headers: { traceparent } }));
  });

  it('checks path, method, media type, body, existence and precondition in this order', async () => {
    const agent = await api.createAgent();
    const text = { 'Content-Type': 'text/plain', 'If-Match': '"9"' };
    const json = { ...text, 'Content-Type': 'application/json' };
    const send = (method: string, path: string, headers: Record<string, string>, body: string) =>
      request(`/api/v1${path}`, { method, headers, body });
    expectRefusal(await send('PUT', '/nowhere', text, '{'), 'ROUTE_NOT_FOUND');
    expectRefusal(await send('PUT', `/agents/${ABSENT}`, text, '{'), 'METHOD_NOT_ALLOWED');
    expectRefusal(await send('PATCH', `/agents/${ABSENT}`, text, '{'), 'UNSUPPORTED_MEDIA_TYPE');
    expectRefusal(await send('PATCH', `/agents/${ABSENT}`, json, '{'), 'INVALID_REQUEST');
    expectRefusal(await send('PATCH', `/agents/${ABSENT}`, json, '{"name": "B"}'), 'AGENT_NOT_FOUND');
    expectRefusal(await send('PATCH', `/agents/${agent}`, json, '{"name": "B"}'), 'VERSION_CONFLICT');
  });

  it('leaves no listeners on a connection with many requests', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const connection = openRaw(system.url);
    const body = '{"name": "A", "model": "rehearsal/echo"}';
    const head = `POST /api/v1/agents HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json`;
    for (let i = 0; i < 40; i++) connection.send(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    connection.send(`GET /livez HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const text = await connection.rest();
    process.off('warning', note);
    expect(text.split('HTTP/1.1 201 Created').length - 1).toBe(40);
    expect(warnings).toEqual([]);
  });
});
