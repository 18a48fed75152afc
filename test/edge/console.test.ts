import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILT } from '../../edge/routes/console.ts';
import { expectHeaders, expectRefusal } from './envelope.ts';
import { type StandaloneEdge, startStandaloneEdge } from './standalone-edge.ts';

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const NAVIGATION = { accept: HTML, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const FOREVER = 'public, max-age=31536000, immutable';
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = '<!doctype html><title>Console</title><script src="/assets/main-B7kpa_Qf.js"></script>';
const SCRIPT = `console.log(${JSON.stringify('again and '.repeat(200))});`;
const IMAGE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]);

/** Writes a build in the form of scripts/console.mjs. */
async function plant(folder: string, page = PAGE): Promise<void> {
  await mkdir(join(folder, 'assets', 'deeper'), { recursive: true });
  const files: Record<string, string | Buffer> = {
    'index.html': page,
    'theme.js': 'document.title;',
    'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '.made-from': 'digest',
    'assets/main-B7kpa_Qf.js': SCRIPT,
    'assets/main-B7kpa_Qf.js.gz': gzipSync(SCRIPT),
    'assets/main-B7kpa_Qf.js.br': brotliCompressSync(SCRIPT),
    'assets/$id-C0ffee.css': 'a{}',
    'assets/logo-A1b2C3d4.png': IMAGE,
    'assets/.hidden.js': 'hidden',
    'assets/deeper/inner.js': 'inner',
  };
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
}

describe.each(['local', 'oidc'] as const)('the console in mode %s', (authMode) => {
  let base = '';
  let edge: StandaloneEdge;
  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'console-'));
    await writeFile(join(base, 'secret.js'), 'not served');
    await plant(join(base, 'dist'));
    edge = await startStandaloneEdge({ authMode, folder: join(base, 'dist') });
  });
  afterAll(async () => {
    await edge?.[Symbol.asyncDispose]();
    await rm(base, { recursive: true, force: true });
  });

  describe('GET /', () => {
    it('returns the page with no-cache and a policy without inline code', async () => {
      const response = await edge.send('/');
      expectHeaders(response);
      expect(response).toMatchObject({ status: 200, text: PAGE });
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(response.headers.get('content-security-policy')).toBe(POLICY);
      expect(response.headers.get('content-security-policy')).not.toContain('unsafe');
    });

    it('returns 304 for a matching If-None-Match', async () => {
      const etag = (await edge.send('/')).headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]{27}"$/);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const response = await edge.send('/', { 'if-none-match': known });
        expect(response, known).toMatchObject({ status: 304, text: '' });
        expect(response.headers.get('etag')).toBe(etag);
        expect(response.headers.get('cache-control')).toBe('no-cache');
      }
      for (const known of ['"other"', etag.slice(1, -1), ''])
        expect((await edge.send('/', { 'if-none-match': known })).status, known).toBe(200);
    });

    it('returns the headers of GET for HEAD', async () => {
      const [get, head] = [await edge.send('/'), await edge.send('/', {}, 'HEAD')];
      expect(head).toMatchObject({ status: 200, text: '' });
      for (const name of [
        'content-length',
        'content-type',
        'etag',
        'cache-control',
        'content-security-policy',
      ])
        expect(head.headers.get(name), name).toBe(get.headers.get(name));
    });

    it('returns 405 for methods other than GET and HEAD', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const response = await edge.send('/', { accept: HTML }, method);
        expectRefusal(response, 'METHOD_NOT_ALLOWED');
        expect(response.headers.get('allow')).toBe('GET, HEAD');
      }
    });
  });

  describe('a path without a route', () => {
    it.each([
      '/sessions',
      '/sessions/ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ?tab=files',
      '/deployments?q=a%20b',
      '/nowhere/at/all',
      '/apis',
      '/documents',
      '/a.b/c.d',
      '/sessions/',
      '//evil.example/',
      `/${'long/'.repeat(200)}`,
      '/%F0%9F%90%99',
    ])('returns the page to a browser navigation: %s', async (path) => {
      for (const method of ['GET', 'HEAD']) {
        const response = await edge.send(path, NAVIGATION, method);
        expectHeaders(response);
        expect(response).toMatchObject({ status: 200, text: method === 'GET' ? PAGE : '' });
        expect(response.headers.get('content-security-policy')).toBe(POLICY);
      }
    });

    it.each(['application/json', '*/*', '', 'text/plain', 'text/html;q=0', 'text/htmlx'])(
      'returns ROUTE_NOT_FOUND to a client that accepts %j',
      async (accept) => {
        expectRefusal(await edge.send('/sessions', accept ? { accept } : {}), 'ROUTE_NOT_FOUND');
      },
    );

    it.each([
      '/api',
      '/api/v1/nowhere',
      '/api/v2/agents',
      '/API/v1/agents',
      '/%61pi/v1/nowhere',
      '/docs/nowhere',
      '/assets',
      '/assets/',
      '/assets/missing-A1b2C3d4.js',
      '/assets/deeper/inner.js',
    ])('returns ROUTE_NOT_FOUND below reserved prefixes: %s', async (path) => {
      expectRefusal(await edge.send(path, NAVIGATION), 'ROUTE_NOT_FOUND');
    });

    it('returns ROUTE_NOT_FOUND for methods other than GET and HEAD', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
        expectRefusal(await edge.send('/sessions', { accept: HTML }, method), 'ROUTE_NOT_FOUND');
    });

    it('returns INVALID_REQUEST when it is not valid percent-encoding', async () => {
      expectRefusal(await edge.send('/sessions/%zz', NAVIGATION), 'INVALID_REQUEST');
    });
  });

  describe('GET /assets/{file}', () => {
    it('is immutable in caches', async () => {
      const response = await edge.send('/assets/main-B7kpa_Qf.js');
      expectHeaders(response);
      expect(response).toMatchObject({ status: 200, text: SCRIPT });
      expect(response.headers.get('content-type')).toBe('application/javascript; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe(FOREVER);
      expect(response.headers.get('vary')).toBe('accept-encoding');
      expect(response.headers.get('content-encoding')).toBe(undefined);
      const style = await edge.send('/assets/$id-C0ffee.css');
      expect([style.text, style.headers.get('content-type')]).toEqual(['a{}', 'text/css; charset=utf-8']);
    });

    it.each([
      ['gzip', 'gzip', gunzipSync],
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
      ['br;q=0.5, gzip;q=1', 'gzip', gunzipSync],
    ])('is compressed for Accept-Encoding %s', async (accepted, encoding, unpack) => {
      const response = await edge.send('/assets/main-B7kpa_Qf.js', { 'accept-encoding': accepted });
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect(response.headers.get('content-type')).toBe('application/javascript; charset=utf-8');
      expect(response.headers.get('vary')).toBe('accept-encoding');
      expect(Number(response.headers.get('content-length'))).toBe(response.bytes.length);
      expect(unpack(response.bytes).toString()).toBe(SCRIPT);
    });

    it('is sent uncompressed without a compressed variant', async () => {
      const response = await edge.send('/assets/logo-A1b2C3d4.png', { 'accept-encoding': 'br, gzip' });
      expect(response.headers.get('content-encoding')).toBe(undefined);
      expect(response.headers.get('content-type')).toBe('image/png');
      expect(response.bytes).toEqual(IMAGE);
    });

    it('supports If-None-Match and ranges', async () => {
      const path = '/assets/main-B7kpa_Qf.js';
      const { headers } = await edge.send(path);
      const same = await edge.send(path, { 'if-none-match': headers.get('etag') ?? '' });
      expect(same).toMatchObject({ status: 304, text: '' });
      expect(same.headers.get('cache-control')).toBe(FOREVER);
      const part = await edge.send(path, { range: 'bytes=0-6' });
      expect(part).toMatchObject({ status: 206, text: 'console' });
      expectRefusal(await edge.send(path, { range: 'bytes=99999-' }), 'RANGE_NOT_SATISFIABLE');
    });

    it('returns the headers of GET for HEAD', async () => {
      const head = await edge.send('/assets/main-B7kpa_Qf.js', { 'accept-encoding': 'br' }, 'HEAD');
      expect(head).toMatchObject({ status: 200, text: '' });
      expect(head.headers.get('content-encoding')).toBe('br');
      expect(Number(head.headers.get('content-length'))).toBe(brotliCompressSync(SCRIPT).length);
    });

    it.each([
      '/assets/missing-A1b2C3d4.js',
      '/assets/main-B7kpa_Qf.js.br',
      '/assets/main-B7kpa_Qf.js.gz',
      '/assets/.hidden.js',
      '/assets/..',
      '/assets/.',
      '/assets/../index.html',
      '/assets/../../secret.js',
      '/assets/%2e%2e%2findex.html',
      '/assets/..%2f..%2fsecret.js',
      '/assets/..%5c..%5csecret.js',
      '/assets/%2e%2e/%2e%2e/secret.js',
      '/assets//main-B7kpa_Qf.js',
      '/assets/./main-B7kpa_Qf.js',
      '/assets/deeper',
      '/assets/deeper%2finner.js',
      '/assets/main-B7kpa_Qf.js/',
      '/assets/main-B7kpa_Qf.js%00',
      '/ASSETS/main-B7kpa_Qf.js',
      '/%2e%2e/secret.js',
      '/../secret.js',
      '/..%2fsecret.js',
      '/secret.js',
      '/.made-from',
    ])('returns ROUTE_NOT_FOUND that is not cached: %s', async (path) => {
      for (const encoding of ['identity', 'br, gzip']) {
        const response = await edge.send(path, { 'accept-encoding': encoding });
        expectRefusal(response, 'ROUTE_NOT_FOUND');
        expect(response.headers.get('cache-control')).toBe('no-store');
      }
    });

    it('lists the allowed methods for OPTIONS', async () => {
      const response = await edge.send('/assets/main-B7kpa_Qf.js', {}, 'DELETE');
      expectRefusal(response, 'METHOD_NOT_ALLOWED');
      expect(response.headers.get('allow')).toBe('GET, HEAD');
    });
  });

  it('files beside the page are revalidated on each use', async () => {
    for (const [path, type] of [
      ['/theme.js', 'application/javascript; charset=utf-8'],
      ['/icon.svg?v=1', 'image/svg+xml'],
    ]) {
      const response = await edge.send(path ?? '', { accept: '*/*' });
      expectHeaders(response);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe(type);
      expect(response.headers.get('cache-control')).toBe('no-cache');
      const again = await edge.send(path ?? '', { 'if-none-match': response.headers.get('etag') ?? '' });
      expect(again.status).toBe(304);
    }
  });

  it('allows links from other sites, but no loading of its files by other sites', async () => {
    for (const path of ['/', '/sessions/ses_1'])
      expect((await edge.send(path, { ...NAVIGATION, 'sec-fetch-site': 'cross-site' })).status).toBe(200);
    const load = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' };
    const frame = { ...NAVIGATION, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' };
    for (const path of ['/', '/sessions/ses_1', '/assets/main-B7kpa_Qf.js', '/theme.js'])
      for (const headers of [{ ...load, accept: HTML }, frame])
        expectRefusal(await edge.send(path, headers), 'CSRF_REJECTED');
  });

  it('checks the Host in local mode', async () => {
    for (const path of ['/', '/sessions', '/assets/main-B7kpa_Qf.js', '/theme.js']) {
      const response = await edge.send(path, { ...NAVIGATION, host: 'evil.example' });
      if (authMode === 'local') expectRefusal(response, 'HOST_NOT_ALLOWED');
      else expect(response.status).toBe(200);
    }
  });

  it('is served to requests with invalid credentials', async () => {
    for (const [name, value] of [
      ['authorization', 'Bearer garbage'],
      ['cookie', 'ahs_login=garbage'],
    ])
      for (const path of ['/', '/assets/main-B7kpa_Qf.js', '/theme.js'])
        expect((await edge.send(path, { ...NAVIGATION, [name ?? '']: value ?? '' })).status).toBe(200);
  });
});

describe('the build of the console', () => {
  it('is served without a restart after a 503 page that names the build command', async () => {
    const base = await mkdtemp(join(tmpdir(), 'console-'));
    const folder = join(base, 'dist');
    await using edge = await startStandaloneEdge({ authMode: 'local', folder });
    for (const path of ['/', '/sessions']) {
      const response = await edge.send(path, NAVIGATION);
      expectHeaders(response);
      expect(response.status).toBe(503);
      expect(response.text).toContain('The console is not built. Run <code>npm run console</code>');
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
    expectRefusal(await edge.send('/assets/main-B7kpa_Qf.js'), 'ROUTE_NOT_FOUND');
    expect((await edge.send('/docs')).status).toBe(200);

    await plant(folder);
    const first = await edge.send('/');
    expect(first).toMatchObject({ status: 200, text: PAGE });
    expect((await edge.send('/assets/main-B7kpa_Qf.js')).status).toBe(200);

    // A page of the same length that replaces the other atomically, as builds do.
    await plant(join(base, 'new'), PAGE.replace('B7kpa_Qf', 'C8lqb-Rg'));
    await rename(folder, join(base, 'old'));
    await rename(join(base, 'new'), folder);
    const second = await edge.send('/', { 'if-none-match': first.headers.get('etag') ?? '' });
    expect(second).toMatchObject({ status: 200, text: PAGE.replace('B7kpa_Qf', 'C8lqb-Rg') });
    await rm(base, { recursive: true, force: true });
  });

  it('references only served files that its policy allows', async () => {
    await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../scripts/console.mjs')]);
    await using edge = await startStandaloneEdge({ authMode: 'local', folder: BUILT });
    const { text } = await edge.send('/');
    const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '');
    // The login, which the page requests together with its scripts. It is not a file, and this edge has no services.
    const login = '/api/v1/auth/session';
    expect(named).toContain(login);
    const files = named.filter((url) => url !== login);
    expect(files.length).toBeGreaterThan(2);
    for (const url of files) {
      expect(url).toMatch(/^\//);
      const response = await edge.send(url, { 'accept-encoding': 'br' });
      expect(response.status, url).toBe(200);
      const isAsset = url.startsWith('/assets/');
      expect(response.headers.get('cache-control')).toBe(isAsset ? FOREVER : 'no-cache');
      if (isAsset) expect(response.headers.get('content-encoding'), url).toBe('br');
    }
    expect(text).not.toMatch(/<style|<script(?![^>]* src=)|\son\w+=|style=/i);
  });
});
