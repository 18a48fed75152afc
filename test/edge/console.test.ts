import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILT } from '../../edge/routes/console.ts';
import { expectHeaders, expectRefusal } from './envelope.ts';
import { type LoneEdge, startLoneEdge } from './lone-edge.ts';

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const NAVIGATION = { accept: HTML, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const FOREVER = 'public, max-age=31536000, immutable';
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = '<!doctype html><title>Console</title><script src="/assets/main-B7kpa_Qf.js"></script>';
const SCRIPT = `console.log(${JSON.stringify('again and '.repeat(200))});`;
const IMAGE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]);

/** A build, as scripts/console.mjs leaves it. */
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

describe.each(['local', 'oidc'] as const)('the console, where the mode is %s', (authMode) => {
  let base = '';
  let edge: LoneEdge;
  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'console-'));
    await writeFile(join(base, 'secret.js'), 'not served');
    await plant(join(base, 'dist'));
    edge = await startLoneEdge({ authMode, folder: join(base, 'dist') });
  });
  afterAll(async () => {
    await edge?.[Symbol.asyncDispose]();
    await rm(base, { recursive: true, force: true });
  });

  describe('GET /', () => {
    it('is its page, which is asked for each time and runs nothing but what belongs to it', async () => {
      const seen = await edge.ask('/');
      expectHeaders(seen);
      expect(seen).toMatchObject({ status: 200, text: PAGE });
      expect(seen.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(seen.headers.get('cache-control')).toBe('no-cache');
      expect(seen.headers.get('content-security-policy')).toBe(POLICY);
      expect(seen.headers.get('content-security-policy')).not.toContain('unsafe');
    });

    it('is not sent again to whoever has it', async () => {
      const etag = (await edge.ask('/')).headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]{27}"$/);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const seen = await edge.ask('/', { 'if-none-match': known });
        expect(seen, known).toMatchObject({ status: 304, text: '' });
        expect(seen.headers.get('etag')).toBe(etag);
        expect(seen.headers.get('cache-control')).toBe('no-cache');
      }
      for (const known of ['"other"', etag.slice(1, -1), ''])
        expect((await edge.ask('/', { 'if-none-match': known })).status, known).toBe(200);
    });

    it('says no more to HEAD than how it would be answered', async () => {
      const [get, head] = [await edge.ask('/'), await edge.ask('/', {}, 'HEAD')];
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

    it('is read only', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const seen = await edge.ask('/', { accept: HTML }, method);
        expectRefusal(seen, 'METHOD_NOT_ALLOWED');
        expect(seen.headers.get('allow')).toBe('GET, HEAD');
      }
    });
  });

  describe('an address that no route has', () => {
    it.each([
      '/sessions',
      '/sessions/ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ?tab=files',
      '/triggers?q=a%20b',
      '/nowhere/at/all',
      '/apis',
      '/documents',
      '/a.b/c.d',
      '/sessions/',
      '//evil.example/',
      `/${'long/'.repeat(200)}`,
      '/%F0%9F%90%99',
    ])('is the page for whoever looks for a page: %s', async (path) => {
      for (const method of ['GET', 'HEAD']) {
        const seen = await edge.ask(path, NAVIGATION, method);
        expectHeaders(seen);
        expect(seen).toMatchObject({ status: 200, text: method === 'GET' ? PAGE : '' });
        expect(seen.headers.get('content-security-policy')).toBe(POLICY);
      }
    });

    it.each(['application/json', '*/*', '', 'text/plain', 'text/html;q=0', 'text/htmlx'])(
      'is not found for a program, which asks for %j',
      async (accept) => {
        expectRefusal(await edge.ask('/sessions', accept ? { accept } : {}), 'ROUTE_NOT_FOUND');
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
    ])('is not found where no page can be: %s', async (path) => {
      expectRefusal(await edge.ask(path, NAVIGATION), 'ROUTE_NOT_FOUND');
    });

    it('is not the page for anything but reading', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
        expectRefusal(await edge.ask('/sessions', { accept: HTML }, method), 'ROUTE_NOT_FOUND');
    });

    it('is refused as before when it cannot be read at all', async () => {
      expectRefusal(await edge.ask('/sessions/%zz', NAVIGATION), 'INVALID_REQUEST');
    });
  });

  describe('GET /assets/{file}', () => {
    it('is kept for ever', async () => {
      const seen = await edge.ask('/assets/main-B7kpa_Qf.js');
      expectHeaders(seen);
      expect(seen).toMatchObject({ status: 200, text: SCRIPT });
      expect(seen.headers.get('content-type')).toBe('application/javascript; charset=utf-8');
      expect(seen.headers.get('cache-control')).toBe(FOREVER);
      expect(seen.headers.get('vary')).toBe('accept-encoding');
      expect(seen.headers.get('content-encoding')).toBe(undefined);
      const style = await edge.ask('/assets/$id-C0ffee.css');
      expect([style.text, style.headers.get('content-type')]).toEqual(['a{}', 'text/css; charset=utf-8']);
    });

    it.each([
      ['gzip', 'gzip', gunzipSync],
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
      ['br;q=0.5, gzip;q=1', 'gzip', gunzipSync],
    ])('is compressed for whoever takes %s', async (accepted, encoding, unpack) => {
      const seen = await edge.ask('/assets/main-B7kpa_Qf.js', { 'accept-encoding': accepted });
      expect(seen.headers.get('content-encoding')).toBe(encoding);
      expect(seen.headers.get('content-type')).toBe('application/javascript; charset=utf-8');
      expect(seen.headers.get('vary')).toBe('accept-encoding');
      expect(Number(seen.headers.get('content-length'))).toBe(seen.bytes.length);
      expect(unpack(seen.bytes).toString()).toBe(SCRIPT);
    });

    it('is as it is where nothing shorter was written', async () => {
      const seen = await edge.ask('/assets/logo-A1b2C3d4.png', { 'accept-encoding': 'br, gzip' });
      expect(seen.headers.get('content-encoding')).toBe(undefined);
      expect(seen.headers.get('content-type')).toBe('image/png');
      expect(seen.bytes).toEqual(IMAGE);
    });

    it('is not sent again to whoever has it, and in parts to whoever asks', async () => {
      const path = '/assets/main-B7kpa_Qf.js';
      const { headers } = await edge.ask(path);
      const same = await edge.ask(path, { 'if-none-match': headers.get('etag') ?? '' });
      expect(same).toMatchObject({ status: 304, text: '' });
      expect(same.headers.get('cache-control')).toBe(FOREVER);
      const part = await edge.ask(path, { range: 'bytes=0-6' });
      expect(part).toMatchObject({ status: 206, text: 'console' });
      expectRefusal(await edge.ask(path, { range: 'bytes=99999-' }), 'RANGE_NOT_SATISFIABLE');
    });

    it('says no more to HEAD than how it would be answered', async () => {
      const head = await edge.ask('/assets/main-B7kpa_Qf.js', { 'accept-encoding': 'br' }, 'HEAD');
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
    ])('is not found, and that is not kept: %s', async (path) => {
      for (const encoding of ['identity', 'br, gzip']) {
        const seen = await edge.ask(path, { 'accept-encoding': encoding });
        expectRefusal(seen, 'ROUTE_NOT_FOUND');
        expect(seen.headers.get('cache-control')).toBe('no-store');
      }
    });

    it('says what may be done with it', async () => {
      const seen = await edge.ask('/assets/main-B7kpa_Qf.js', {}, 'DELETE');
      expectRefusal(seen, 'METHOD_NOT_ALLOWED');
      expect(seen.headers.get('allow')).toBe('GET, HEAD');
    });
  });

  it('files beside the page are asked for each time', async () => {
    for (const [path, type] of [
      ['/theme.js', 'application/javascript; charset=utf-8'],
      ['/icon.svg?v=1', 'image/svg+xml'],
    ]) {
      const seen = await edge.ask(path ?? '', { accept: '*/*' });
      expectHeaders(seen);
      expect(seen.status).toBe(200);
      expect(seen.headers.get('content-type')).toBe(type);
      expect(seen.headers.get('cache-control')).toBe('no-cache');
      const again = await edge.ask(path ?? '', { 'if-none-match': seen.headers.get('etag') ?? '' });
      expect(again.status).toBe(304);
    }
  });

  it('a link to it may be followed from anywhere, and nothing of it may be loaded from elsewhere', async () => {
    for (const path of ['/', '/sessions/ses_1'])
      expect((await edge.ask(path, { ...NAVIGATION, 'sec-fetch-site': 'cross-site' })).status).toBe(200);
    const load = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' };
    const frame = { ...NAVIGATION, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' };
    for (const path of ['/', '/sessions/ses_1', '/assets/main-B7kpa_Qf.js', '/theme.js'])
      for (const headers of [{ ...load, accept: HTML }, frame])
        expectRefusal(await edge.ask(path, headers), 'CSRF_REJECTED');
  });

  it('answers by our names alone in local mode', async () => {
    for (const path of ['/', '/sessions', '/assets/main-B7kpa_Qf.js', '/theme.js']) {
      const seen = await edge.ask(path, { ...NAVIGATION, host: 'evil.example' });
      if (authMode === 'local') expectRefusal(seen, 'HOST_NOT_ALLOWED');
      else expect(seen.status).toBe(200);
    }
  });

  it('is open to whoever shows something that is worth nothing', async () => {
    for (const [name, value] of [
      ['authorization', 'Bearer garbage'],
      ['cookie', 'ahs_login=garbage'],
    ])
      for (const path of ['/', '/assets/main-B7kpa_Qf.js', '/theme.js'])
        expect((await edge.ask(path, { ...NAVIGATION, [name ?? '']: value ?? '' })).status).toBe(200);
  });
});

describe('a build of the console', () => {
  it('that is missing is said in one sentence, with what makes one, and comes without a restart', async () => {
    const base = await mkdtemp(join(tmpdir(), 'console-'));
    const folder = join(base, 'dist');
    await using edge = await startLoneEdge({ authMode: 'local', folder });
    for (const path of ['/', '/sessions']) {
      const seen = await edge.ask(path, NAVIGATION);
      expectHeaders(seen);
      expect(seen.status).toBe(503);
      expect(seen.text).toContain('The console is not built: run <code>npm run console</code>');
      expect(seen.headers.get('cache-control')).toBe('no-store');
    }
    expectRefusal(await edge.ask('/assets/main-B7kpa_Qf.js'), 'ROUTE_NOT_FOUND');
    expect((await edge.ask('/docs')).status).toBe(200);

    await plant(folder);
    const first = await edge.ask('/');
    expect(first).toMatchObject({ status: 200, text: PAGE });
    expect((await edge.ask('/assets/main-B7kpa_Qf.js')).status).toBe(200);

    // Of the same length, and moved into place as builds are.
    await plant(join(base, 'new'), PAGE.replace('B7kpa_Qf', 'C8lqb-Rg'));
    await rename(folder, join(base, 'old'));
    await rename(join(base, 'new'), folder);
    const second = await edge.ask('/', { 'if-none-match': first.headers.get('etag') ?? '' });
    expect(second).toMatchObject({ status: 200, text: PAGE.replace('B7kpa_Qf', 'C8lqb-Rg') });
    await rm(base, { recursive: true, force: true });
  });

  it('names nothing in its page that is not served, and nothing that its policy forbids', async () => {
    await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../scripts/console.mjs')]);
    await using edge = await startLoneEdge({ authMode: 'local', folder: BUILT });
    const { text } = await edge.ask('/');
    const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '');
    expect(named.length).toBeGreaterThan(2);
    for (const url of named) {
      expect(url).toMatch(/^\//);
      const seen = await edge.ask(url, { 'accept-encoding': 'br' });
      expect(seen.status, url).toBe(200);
      const isAsset = url.startsWith('/assets/');
      expect(seen.headers.get('cache-control')).toBe(isAsset ? FOREVER : 'no-cache');
      if (isAsset) expect(seen.headers.get('content-encoding'), url).toBe('br');
    }
    expect(text).not.toMatch(/<style|<script(?![^>]* src=)|\son\w+=|style=/i);
  });
});
