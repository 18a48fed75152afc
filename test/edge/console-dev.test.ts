import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevServer, startVite } from '../../scripts/dev/vite.ts';
import { until } from '../support/wait.ts';
import { expectHeaders, expectRefusal } from './envelope.ts';
import { type StandaloneEdge, startStandaloneEdge } from './standalone-edge.ts';

const HTML = { accept: 'text/html' };

describe('the console from the dev server', () => {
  let sources = '';
  let vite: DevServer;
  let edge: StandaloneEdge;
  beforeAll(async () => {
    sources = await mkdtemp(join(tmpdir(), 'console-sources-'));
    await writeFile(
      join(sources, 'index.html'),
      '<html><head></head><script type="module" src="/main.ts"></script>',
    );
    await writeFile(join(sources, 'main.ts'), "import './style.css'; export const n: number = 1;");
    await writeFile(join(sources, 'style.css'), 'a { color: red }');
    await mkdir(join(sources, 'api'));
    await writeFile(join(sources, 'api/agents.ts'), 'export const agents: number = 2;');
    vite = await startVite(sources);
    const environment = { SERVICE_CONSOLE_DEV_SERVER: vite.url };
    edge = await startStandaloneEdge({ authMode: 'local', folder: join(sources, 'dist'), environment });
  });
  afterAll(async () => {
    await edge?.[Symbol.asyncDispose]();
    await vite?.[Symbol.asyncDispose]();
    await rm(sources, { recursive: true, force: true });
  });

  it('has a policy for the inline code of the dev server and the common headers', async () => {
    for (const path of ['/', '/sessions/ses_1?tab=raw']) {
      const response = await edge.send(path, HTML);
      expectHeaders(response);
      expect(response.status).toBe(200);
      expect(response.text).toContain('<script type="module" src="/@vite/client">');
      expect(response.headers.get('content-security-policy')).toContain("script-src 'self' 'unsafe-inline';");
    }
  });

  it('compiles sources on request', async () => {
    const response = await edge.send('/main.ts');
    expect(response.text).toContain('export const n = 1;');
    // A source file whose path begins like the API.
    expect((await edge.send('/api/agents.ts')).text).toContain('export const agents = 2;');
    expect((await edge.send('/main.ts', {}, 'HEAD')).text).toBe('');
  });

  it('serves no API paths and only GET and HEAD', async () => {
    for (const path of ['/api', '/api/', '/api/v1', '/api/v1/nowhere', '/%61pi/v1/nowhere', '/docs/nowhere'])
      expectRefusal(await edge.send(path, HTML), 'ROUTE_NOT_FOUND');
    expect((await edge.send('/docs')).headers.get('content-security-policy')).not.toContain('ws:');
    expectRefusal(await edge.send('/', HTML, 'POST'), 'METHOD_NOT_ALLOWED');
    expectRefusal(await edge.send('/main.ts', HTML, 'POST'), 'ROUTE_NOT_FOUND');
  });

  it('is refused for other hosts and origins', async () => {
    expectRefusal(await edge.send('/main.ts', { host: 'evil.example' }), 'HOST_NOT_ALLOWED');
    expectRefusal(await edge.send('/main.ts', { origin: 'http://evil.example' }), 'CSRF_REJECTED');
  });

  it('sends updates over a WebSocket that only pages of the service can open', async () => {
    const [, token] = /wsToken = "([^"]+)"/.exec((await edge.send('/@vite/client')).text) ?? [];
    await edge.send('/style.css', { accept: 'text/css' });
    const address = `${edge.url.replace('http', 'ws')}/?token=${token}`;
    const open = (origin: string) => new WebSocket(address, { protocols: 'vite-hmr', headers: { origin } });

    const [refused] = await once(open('http://evil.example'), 'error');
    expect(refused).toBeDefined();

    const socket = open(edge.url);
    const messages: string[] = [];
    socket.addEventListener('message', ({ data }) => messages.push(String(data)));
    await until('the socket is open', () => messages.some((one) => one.includes('connected')));
    await edge.send('/main.ts');
    await writeFile(join(sources, 'style.css'), 'a { color: blue }');
    await until('the change is announced', () => messages.some((one) => /update|full-reload/.test(one)));
    socket.close();
    await once(socket, 'close');
  });

  it('returns 503 while the dev server does not answer', async () => {
    const environment = { SERVICE_CONSOLE_DEV_SERVER: 'http://127.0.0.1:1' };
    await using lost = await startStandaloneEdge({ authMode: 'local', folder: sources, environment });
    const response = await lost.send('/', HTML);
    expectRefusal(response, 'DEPENDENCY_UNAVAILABLE');
    expect(response.text).toContain('npm run dev');
  });
});
