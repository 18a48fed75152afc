import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevServer, startVite } from '../../scripts/dev/vite.ts';
import { until } from '../support/wait.ts';
import { expectHeaders, expectRefusal } from './envelope.ts';
import { type LoneEdge, startLoneEdge } from './lone-edge.ts';

const HTML = { accept: 'text/html' };

describe('the console from its sources', () => {
  let sources = '';
  let vite: DevServer;
  let edge: LoneEdge;
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
    edge = await startLoneEdge({ authMode: 'local', folder: join(sources, 'dist'), environment });
  });
  afterAll(async () => {
    await edge?.[Symbol.asyncDispose]();
    await vite?.[Symbol.asyncDispose]();
    await rm(sources, { recursive: true, force: true });
  });

  it('is a page that may do what the dev server puts into it, and has the headers of every answer', async () => {
    for (const path of ['/', '/sessions/ses_1?tab=raw']) {
      const seen = await edge.ask(path, HTML);
      expectHeaders(seen);
      expect(seen.status).toBe(200);
      expect(seen.text).toContain('<script type="module" src="/@vite/client">');
      expect(seen.headers.get('content-security-policy')).toContain("script-src 'self' 'unsafe-inline';");
    }
  });

  it('is compiled when it is asked for', async () => {
    const seen = await edge.ask('/main.ts');
    expect(seen.text).toContain('export const n = 1;');
    // Where sources have the name of a path of ours.
    expect((await edge.ask('/api/agents.ts')).text).toContain('export const agents = 2;');
    expect((await edge.ask('/main.ts', {}, 'HEAD')).text).toBe('');
  });

  it('has none of the paths of the API, and does nothing but read', async () => {
    for (const path of ['/api', '/api/', '/api/v1', '/api/v1/nowhere', '/%61pi/v1/nowhere', '/docs/nowhere'])
      expectRefusal(await edge.ask(path, HTML), 'ROUTE_NOT_FOUND');
    expect((await edge.ask('/docs')).headers.get('content-security-policy')).not.toContain('ws:');
    expectRefusal(await edge.ask('/', HTML, 'POST'), 'METHOD_NOT_ALLOWED');
    expectRefusal(await edge.ask('/main.ts', HTML, 'POST'), 'ROUTE_NOT_FOUND');
  });

  it('is for nobody who may not see the console', async () => {
    expectRefusal(await edge.ask('/main.ts', { host: 'evil.example' }), 'HOST_NOT_ALLOWED');
    expectRefusal(await edge.ask('/main.ts', { origin: 'http://evil.example' }), 'CSRF_REJECTED');
  });

  it('changes in the page at once, over a socket that is open to our pages alone', async () => {
    const [, token] = /wsToken = "([^"]+)"/.exec((await edge.ask('/@vite/client')).text) ?? [];
    await edge.ask('/style.css', { accept: 'text/css' });
    const address = `${edge.url.replace('http', 'ws')}/?token=${token}`;
    const open = (origin: string) => new WebSocket(address, { protocols: 'vite-hmr', headers: { origin } });

    const [refused] = await once(open('http://evil.example'), 'error');
    expect(refused).toBeDefined();

    const socket = open(edge.url);
    const heard: string[] = [];
    socket.addEventListener('message', ({ data }) => heard.push(String(data)));
    await until('the socket is open', () => heard.some((one) => one.includes('connected')));
    await edge.ask('/main.ts');
    await writeFile(join(sources, 'style.css'), 'a { color: blue }');
    await until('the change is told', () => heard.some((one) => /update|full-reload/.test(one)));
    socket.close();
    await once(socket, 'close');
  });

  it('says what is missing when the dev server does not answer', async () => {
    const environment = { SERVICE_CONSOLE_DEV_SERVER: 'http://127.0.0.1:1' };
    await using lost = await startLoneEdge({ authMode: 'local', folder: sources, environment });
    const seen = await lost.ask('/', HTML);
    expectRefusal(seen, 'DEPENDENCY_UNAVAILABLE');
    expect(seen.text).toContain('npm run dev');
  });
});
