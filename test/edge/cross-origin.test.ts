import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { exchange } from '../support/raw-http.ts';
import { type System, startSystem } from '../support/system.ts';
import { type Browser, startTeam, type Team } from './access/team.ts';
import { expectRefusal } from './envelope.ts';

const PAGE = 'http://localhost:5173';
const EXPOSED = 'X-Request-Id, ETag, Retry-After, Idempotent-Replayed, WWW-Authenticate';
const SETTINGS = { SERVICE_ALLOWED_ORIGINS: `https://app.example.com,${PAGE}` };

/** Sends a request with these header lines. */
const sendTo = (url: string, line: string, headers: string[], body = '') => {
  const sized = body ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : [];
  const head = [`${line} HTTP/1.1`, `Host: ${new URL(url).host}`, 'Connection: close', ...sized, ...headers];
  return exchange(url, `${head.join('\r\n')}\r\n\r\n${body}`);
};

const preflight = (method: string) => [
  `Access-Control-Request-Method: ${method}`,
  'Access-Control-Request-Headers: authorization,content-type,x-ahs-ai-sdk',
];

describe('pages of SERVICE_ALLOWED_ORIGINS in local mode', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem(SETTINGS);
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const send = (line: string, headers: string[], body = '') => sendTo(system.url, line, headers, body);

  it('act as the local administrator, read responses and see the exposed headers', async () => {
    for (const site of ['same-site', 'cross-site']) {
      const from = [`Origin: ${PAGE}`, `Sec-Fetch-Site: ${site}`, 'Sec-Fetch-Mode: cors'];
      const created = await send('POST /api/v1/agents', from, '{"name": "A", "model": "rehearsal/echo"}');
      expect(created.status).toBe(201);
      expect(created.headers.get('access-control-allow-origin')).toBe(PAGE);
      expect(created.headers.get('access-control-expose-headers')).toBe(EXPOSED);
      expect(created.headers.get('access-control-allow-credentials')).toBeUndefined();
      expect(created.headers.get('vary')).toContain('Origin');
      expect((await send('GET /api/v1/admin/configuration', from)).status).toBe(200);
    }
  });

  it('read errors, unknown paths included', async () => {
    for (const path of ['/api/v1/agents/agt_1', '/api/v1/nowhere', '/nowhere']) {
      const response = await send(`GET ${path}`, [`Origin: ${PAGE}`]);
      expect(response.status).toBe(404);
      expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
    }
  });

  it('read event streams', async () => {
    const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
    const controller = new AbortController();
    const url = `${system.url}/api/v1/sessions/${body.data.session_id}/events/stream`;
    const response = await fetch(url, { headers: { Origin: PAGE }, signal: controller.signal });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(response.headers.get('vary')).toBe('Origin');
    controller.abort();
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'get an answer to a preflight for %s',
    async (method) => {
      for (const path of ['/api/v1/agents', '/api/v1/sessions/ses_1/ai-stream', '/openapi.json']) {
        const response = await send(`OPTIONS ${path}`, [`Origin: ${PAGE}`, ...preflight(method)]);
        expect(response.status).toBe(204);
        expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
        expect(response.headers.get('access-control-allow-methods')).toContain(method);
        expect(response.headers.get('access-control-allow-headers')).toBe(
          'authorization,content-type,x-ahs-ai-sdk',
        );
        expect(response.headers.get('vary')).toContain('Origin');
      }
    },
  );

  it('may embed responses without CORS', async () => {
    const embedded = ['Sec-Fetch-Site: same-site', 'Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: image'];
    const response = await send('GET /api/v1/agents', [...embedded, `Referer: ${PAGE}/`]);
    expect(response.status).toBe(200);
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    for (const referer of ['http://localhost:1/', 'x'])
      expectRefusal(await send('GET /api/v1/agents', [...embedded, `Referer: ${referer}`]), 'CSRF_REJECTED');
    expectRefusal(await send('GET /api/v1/agents', embedded), 'CSRF_REJECTED');
  });

  it.each([
    'https://evil.example',
    'null',
    'http://localhost:5174',
    'https://localhost:5173',
    `${PAGE}/`,
    'http://LOCALHOST:5173',
    `${PAGE}, https://app.example.com`,
  ])(
    'are no others: the Origin %j is refused with a message that names it, Host and setting',
    async (origin) => {
      for (const line of ['GET /api/v1/agents', 'OPTIONS /api/v1/agents']) {
        const headers = line.startsWith('OPTIONS') ? preflight('POST') : [];
        const response = await send(line, [`Origin: ${origin}`, ...headers]);
        expectRefusal(response, 'CSRF_REJECTED');
        const { message } = JSON.parse(response.text);
        expect(message).toContain(JSON.stringify(origin));
        expect(message).toContain(new URL(system.url).host);
        expect(message).toContain('SERVICE_ALLOWED_ORIGINS');
        expect(response.headers.get('access-control-allow-origin')).toBeUndefined();
        expect(response.headers.get('vary')).toContain('Origin');
      }
    },
  );

  it('still need an allowed Host', async () => {
    const response = await exchange(
      system.url,
      `GET /api/v1/agents HTTP/1.1\r\nHost: evil.example\r\nOrigin: ${PAGE}\r\nConnection: close\r\n\r\n`,
    );
    expect(JSON.parse(response.text).code).toBe('HOST_NOT_ALLOWED');
  });
});

describe('pages of SERVICE_ALLOWED_ORIGINS in team mode', () => {
  let team: Team;
  let browser: Browser;
  let token: string;
  beforeAll(async () => {
    team = await startTeam(SETTINGS);
    browser = await team.logIn('bob');
    token = (await browser.token(['write'])).value;
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const agents = (headers: string[]) => sendTo(team.url, 'GET /api/v1/agents', headers);

  it('use bearer tokens', async () => {
    const response = await agents([`Origin: ${PAGE}`, `Authorization: Bearer ${token}`]);
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
  });

  it('have no login, although the browser sends its cookie', async () => {
    const cookie = `Cookie: ${browser.jar.header()}`;
    expect((await agents([cookie])).status).toBe(200);
    const response = await agents([`Origin: ${PAGE}`, cookie]);
    expect(JSON.parse(response.text).code).toBe('UNAUTHENTICATED');
    expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
    await sendTo(team.url, 'POST /api/v1/auth/logout', [`Origin: ${PAGE}`, cookie]);
    expect((await agents([cookie])).status).toBe(200);
  });

  it('may link to the console, which knows the login', async () => {
    const link = ['Sec-Fetch-Site: same-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];
    const cookie = `Cookie: ${browser.jar.header()}`;
    const response = await sendTo(team.url, 'GET /metrics', [...link, cookie, `Referer: ${PAGE}/`]);
    // Without the login it would be UNAUTHENTICATED.
    expectRefusal(response, 'FORBIDDEN');
  });

  it('are no others, even with a valid token', async () => {
    const foreign = 'Origin: https://evil.example';
    expectRefusal(await agents([foreign, `Authorization: Bearer ${token}`]), 'CSRF_REJECTED');
  });

  it('leave the login of pages of the service as it is', async () => {
    const headers = [`Origin: ${team.url}`, `Cookie: ${browser.jar.header()}`];
    expect((await sendTo(team.url, 'POST /api/v1/agents', headers, '{}')).status).toBe(400);
  });
});
