import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi, signed } from '../support/api.ts';
import { freePort } from '../support/port.ts';
import { exchange } from '../support/raw-http.ts';
import { type System, startSystem } from '../support/system.ts';
import { expectHeaders, expectRefusal } from './envelope.ts';

const NAVIGATION = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];

describe('requests from pages of other origins in local mode', () => {
  let system: System;
  let api: Api;
  let port: string;
  let agent: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    port = new URL(system.url).port;
    agent = await api.createAgent();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  /** Sends a request with these header lines. Default Host: the address of the service. */
  const send = (line: string, headers: string[], body = '') => {
    const host = headers.some((one) => /^host:/i.test(one)) ? [] : [`Host: 127.0.0.1:${port}`];
    const sized = body ? [`Content-Length: ${body.length}`] : [];
    const head = [`${line} HTTP/1.1`, ...host, 'Connection: close', ...sized, ...headers];
    return exchange(system.url, `${head.join('\r\n')}\r\n\r\n${body}`);
  };
  const get = (headers: string[], path = '/api/v1/agents') => send(`GET ${path}`, headers);

  describe('Host', () => {
    it.each([
      '127.0.0.1',
      'localhost',
      'LOCALHOST',
      'LocalHost:1',
      '127.0.0.1:',
      '[::1]',
      '[::1]:99',
      '127.0.0.1:80',
    ])('accepts the Host %s', async (host) => {
      expect((await get([`Host: ${host}`])).status).toBe(200);
    });

    it.each([
      'evil.example',
      'evil.example:8080',
      'localhost.evil.example',
      'localhost.',
      '127.0.0.1.',
      '127.0.0.1.nip.io',
      '127.0.0.2',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0.0.0.0',
      '[::]',
      '::1',
      '[::ffff:127.0.0.1]',
      '[::1%25lo]',
      'user@localhost',
      'localhost@evil.example',
      'evil.example:@localhost',
      'localhost:80:80',
      'localhost:80a',
      'localhost/x',
      'localhost, evil.example',
      '',
    ])('returns HOST_NOT_ALLOWED for the Host %j', async (host) => {
      for (const path of ['/api/v1/agents', '/docs', '/openapi.json', '/metrics', '/livez', '/nowhere'])
        expectRefusal(await get([`Host: ${host}`], path), 'HOST_NOT_ALLOWED');
    });

    it('is taken from an absolute request target', async () => {
      const ours = `Host: 127.0.0.1:${port}`;
      expectRefusal(await send('GET http://evil.example/api/v1/agents', [ours]), 'HOST_NOT_ALLOWED');
      expectRefusal(await send('GET HTTPS://evil.example', [ours]), 'HOST_NOT_ALLOWED');
      expectRefusal(await send('GET http://localhost@evil.example/docs', [ours]), 'HOST_NOT_ALLOWED');
      expect((await send('GET http://localhost/api/v1/agents', ['Host: evil.example'])).status).toBe(200);
      expectRefusal(await send('PUT http://localhost/api/v1/agents?x=1', [ours]), 'METHOD_NOT_ALLOWED');
      expectRefusal(await send('GET ftp://localhost/docs', [ours]));
      expectRefusal(await send('OPTIONS *', [ours]), 'ROUTE_NOT_FOUND');
    });
  });

  describe('Origin', () => {
    it('is accepted if it equals the Host of the request', async () => {
      for (const host of [
        `127.0.0.1:${port}`,
        `localhost:${port}`,
        `[::1]:${port}`,
        'localhost:9000',
        'localhost',
      ])
        expect((await get([`Host: ${host}`, `Origin: http://${host}`])).status).toBe(200);
    });

    it.each([
      () => 'https://evil.example',
      () => 'null',
      () => '',
      () => `http://localhost:${port}`,
      () => `http://[::1]:${port}`,
      () => `https://127.0.0.1:${port}`,
      () => 'http://127.0.0.1',
      () => 'http://127.0.0.1:1',
      () => `http://127.0.0.1:${port}.evil.example`,
      () => `http://127.0.0.1:${port}, https://evil.example`,
      () => `http://127.0.0.1:${port}/`,
      () => `http://evil@127.0.0.1:${port}`,
      () => 'chrome-extension://abcdefgh',
      () => 'file://',
    ])('is refused with CSRF_REJECTED if it differs from the Host: case %#', async (origin) => {
      expectRefusal(await get([`Origin: ${origin()}`]), 'CSRF_REJECTED');
      const post = await send(
        'POST /api/v1/agents',
        [`Origin: ${origin()}`, 'Content-Type: application/json'],
        '{"name": "evil", "model": "rehearsal/echo"}',
      );
      expectRefusal(post, 'CSRF_REJECTED');
    });

    it('is refused when it is repeated, even if one value is accepted', async () => {
      const ours = `Origin: http://127.0.0.1:${port}`;
      expectRefusal(await get([ours, 'Origin: https://evil.example']), 'CSRF_REJECTED');
      expectRefusal(await get(['Origin: https://evil.example', ours]), 'CSRF_REJECTED');
    });
  });

  describe('Sec-Fetch-Site', () => {
    it.each(['same-origin', 'none'])('accepts %s', async (site) => {
      expect((await get([`Sec-Fetch-Site: ${site}`])).status).toBe(200);
    });

    it.each([
      ['Sec-Fetch-Site: cross-site'],
      ['Sec-Fetch-Site: same-site'],
      ['Sec-Fetch-Site: CROSS-SITE'],
      ['Sec-Fetch-Site: something-new'],
      ['Sec-Fetch-Site:'],
      ['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site'],
      ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: script'],
      ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: image'],
      ['Sec-Fetch-Site: cross-site', ...NAVIGATION],
      ['Sec-Fetch-Site: same-site', ...NAVIGATION, 'Sec-Fetch-User: ?1'],
    ])('is refused with CSRF_REJECTED by the API: %s', async (...headers) => {
      for (const path of [
        '/api/v1/agents',
        '/api/v1/sessions',
        '/api/v1/admin/deployments',
        '/%61pi/v1/agents',
        '/api/v1/sessions/ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ/events/stream',
        '/api/v1/nowhere',
      ])
        expectRefusal(await get(headers, path), 'CSRF_REJECTED');
    });

    it('allows navigation from other sites to pages and no other cross-site requests', async () => {
      const followed = ['Sec-Fetch-Site: cross-site', ...NAVIGATION];
      for (const path of ['/docs', '/openapi.json', '/llms.txt'])
        expect((await get(followed, path)).status).toBe(200);
      const framed = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe'];
      expectRefusal(await get(framed, '/docs'), 'CSRF_REJECTED');
      const script = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: script'];
      expectRefusal(await get(script, '/docs/reference.js'), 'CSRF_REJECTED');
      expectRefusal(await send('POST /docs', followed), 'CSRF_REJECTED');
      expectRefusal(await get(followed, '/nowhere'), 'CSRF_REJECTED');
    });
  });

  it.each(['GET', 'POST', 'PATCH', 'DELETE', 'PUT'])(
    'returns no CORS headers to a preflight for %s',
    async (method) => {
      for (const path of [
        '/api/v1/agents',
        `/api/v1/agents/${agent}`,
        '/docs',
        '/api/v1/deployments/dep_1/trigger',
      ]) {
        const response = await send(`OPTIONS ${path}`, [
          'Origin: https://evil.example',
          `Access-Control-Request-Method: ${method}`,
          'Access-Control-Request-Headers: content-type',
          'Access-Control-Request-Private-Network: true',
        ]);
        expect(response.status).toBeGreaterThanOrEqual(400);
        expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
    },
  );

  it('writes the Host of the request into the documents', async () => {
    const response = await get(['Host: localhost:9000'], '/openapi.json');
    expect(JSON.parse(response.text.slice(response.text.indexOf('{'))).servers).toEqual([
      { url: 'http://localhost:9000/api/v1' },
    ]);
  });

  it('sends no CORS headers in any response', async () => {
    const own = [
      '/api/v1/agents',
      '/docs',
      '/docs/reference.js',
      '/openapi.json',
      '/metrics',
      '/livez',
      '/nowhere',
    ];
    for (const path of own) {
      const response = await get([`Origin: http://127.0.0.1:${port}`], path);
      expectHeaders(response);
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('creates no agent with refused requests', async () => {
    const { body } = await api.get('/agents');
    expect((body.data as { agent_id: string }[]).map((one) => one.agent_id)).toEqual([agent]);
  });

  it('accepts signed trigger requests from any origin and Host', async () => {
    const webhook = await api.createWebhook(agent);
    const proof = Object.entries(signed(webhook.secret, 'hook')).map(([name, value]) => `${name}: ${value}`);
    const { pathname } = new URL(webhook.url);
    for (const from of [
      ['Host: evil.example', 'Origin: https://evil.example', 'Sec-Fetch-Site: cross-site'],
      ['Host: agents.example.com'],
    ])
      expect((await send(`POST ${pathname}`, [...from, ...proof], 'hook')).status).toBe(200);
  });
});

describe('SERVICE_PUBLIC_URL and SERVICE_ALLOWED_HOSTS', () => {
  let system: System;
  let origin: string;
  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    system = await startSystem({
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: 'https://Agents.Example.com/',
      SERVICE_ALLOWED_HOSTS: 'Inner.example.com, [FD00::1]',
    });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const get = (headers: string[]) =>
    exchange(origin, ['GET /api/v1/agents HTTP/1.1', 'Connection: close', ...headers, '', ''].join('\r\n'));

  it('add accepted host names', async () => {
    for (const host of [
      'agents.example.com',
      'AGENTS.example.com:443',
      'inner.example.com:1',
      '[fd00::1]',
      'localhost',
    ])
      expect((await get([`Host: ${host}`])).status, host).toBe(200);
    for (const host of ['example.com', 'x.agents.example.com', 'agents.example.com.', '[fd00::2]'])
      expectRefusal(await get([`Host: ${host}`]), 'HOST_NOT_ALLOWED');
  });

  it('accept pages of the public origin behind a proxy that sends another Host', async () => {
    const page = 'Origin: https://agents.example.com';
    for (const host of ['agents.example.com', 'inner.example.com', '127.0.0.1:8080'])
      expect((await get([`Host: ${host}`, page, 'Sec-Fetch-Site: same-origin'])).status).toBe(200);
    for (const other of [
      'https://agents.example.com:8443',
      'https://inner.example.com',
      'https://example.com',
    ])
      expectRefusal(await get(['Host: agents.example.com', `Origin: ${other}`]), 'CSRF_REJECTED');
  });

  it('are the origin of trigger URLs and documents', async () => {
    const api = createApi(origin);
    const webhook = await api.createWebhook(await api.createAgent());
    expect(webhook.url).toBe(`https://agents.example.com/api/v1/deployments/${webhook.id}/trigger`);
    const document = (await (await fetch(`${origin}/openapi.json`)).json()) as { servers: object[] };
    expect(document.servers).toEqual([{ url: 'https://agents.example.com/api/v1' }]);
    expect(await (await fetch(`${origin}/llms.txt`)).text()).toContain('https://agents.example.com/api/v1');
  });

  it('are used in the guide for language models, which lists every operation', async () => {
    const document: { paths: Record<string, object> } = JSON.parse(
      await (await fetch(`${origin}/openapi.json`)).text(),
    );
    const guide = await (await fetch(`${origin}/llms.txt`)).text();
    const operations = Object.entries(document.paths)
      // Probes and the default path of AI SDK's transport are not checked.
      .filter(([path, methods]) => !('servers' in methods) && !path.includes('{chat_id}'))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `\`${method.toUpperCase()} /api/v1${path}\``),
      );
    expect(operations.length).toBeGreaterThan(50);
    expect(operations.filter((operation) => !guide.includes(operation))).toEqual([]);
  });
});
