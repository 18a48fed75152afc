import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../support/api.ts';
import { type System, startSystem } from '../../support/system.ts';
import { expectRefusal, expectSuccess, type ReceivedResponse, readResponse } from '../envelope.ts';
import { sha256 } from './fake-files.ts';
import { type FormPart, field, file, formBody } from './form-body.ts';

const MAX_FILE = 2_000_000;

interface Entry {
  path: string;
  kind: string;
  size: number;
  sha256: string | null;
}

describe.each(['sessions', 'assistants'])('the files of %s', (place) => {
  let system: System;
  let api: Api;
  /** Creates a session or assistant and returns its path. */
  let base: string;
  beforeAll(async () => {
    system = await startSystem({
      SERVICE_FILE_MAX_BYTES: String(MAX_FILE),
      SERVICE_WORKSPACE_MAX_BYTES: String(3 * MAX_FILE),
      SERVICE_WORKSPACE_MAX_FILES: '30',
    });
    api = createApi(system.url);
    base = await begin();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  async function begin(): Promise<string> {
    if (place === 'assistants') {
      const { body } = await api.post('/assistants', { name: 'A', model: 'rehearsal/echo' });
      return `/assistants/${body.data.assistant_id}/files`;
    }
    const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
    return `/sessions/${body.data.session_id}/files`;
  }
  const request = async (path: string, init: RequestInit = {}) =>
    readResponse(await fetch(`${system.url}/api/v1${path}`, init));
  const put = (path: string, body: string | Buffer, headers: Record<string, string> = {}, at = base) =>
    request(`${at}/content?path=${encodeURIComponent(path)}`, {
      method: 'PUT',
      body: typeof body === 'string' ? body : new Uint8Array(body),
      headers,
    });
  const form = (parts: FormPart[], at = base) => {
    const { body, headers } = formBody(parts);
    return request(at, { method: 'POST', body: new Uint8Array(body), headers });
  };
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    request(base + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    });
  async function entries(query = '?recursive=true', at = base): Promise<Entry[]> {
    return expectSuccess<Entry[]>(await request(`${at}${query}`)).data;
  }
  const paths = async (query?: string, at?: string) => (await entries(query, at)).map(({ path }) => path);
  const content = async (path: string, at = base) =>
    Buffer.from(
      await (await fetch(`${system.url}/api/v1${at}/content?path=${encodeURIComponent(path)}`)).arrayBuffer(),
    );
  const dataOf = (response: ReceivedResponse, status: number) => {
    expect(response.status, response.text).toBe(status);
    return expectSuccess(response).data;
  };

  it('evaluates If-Match and If-None-Match of PUT', async () => {
    const at = await begin();
    const replace = (body: string, headers: Record<string, string>) => put(path, body, headers, at);
    const path = 'conditions/a.txt';
    const etagOf = async () =>
      (await fetch(`${system.url}/api/v1${at}/content?path=${path}`)).headers.get('etag') ?? '';
    expectRefusal(await replace('one', { 'If-Match': '*' }), 'VERSION_CONFLICT');
    expect((await replace('one', { 'If-None-Match': '*' })).status).toBe(201);
    expectRefusal(await replace('two', { 'If-None-Match': '*' }), 'VERSION_CONFLICT');
    const etag = await etagOf();
    expectRefusal(await replace('two', { 'If-Match': `W/${etag}` }), 'VERSION_CONFLICT');
    expect((await replace('two', { 'If-Match': `"other", ${etag}` })).status).toBe(201);
    expectRefusal(await replace('three', { 'If-Match': etag }), 'VERSION_CONFLICT');
    expect((await replace('three', { 'If-Match': '*' })).status).toBe(201);
    const invalid: Record<string, string>[] = [
      { 'If-Match': 'a' },
      { 'If-None-Match': etag },
      { 'If-Match': '*', 'If-None-Match': '*' },
    ];
    for (const headers of invalid) expectRefusal(await replace('four', headers), 'INVALID_REQUEST');
    expect(await etagOf()).not.toBe(etag);
  });

  it('evaluates If-Match of DELETE against the content of a file', async () => {
    const at = await begin();
    const remove = (path: string, match: string) =>
      request(`${at}?path=${path}`, { method: 'DELETE', headers: { 'If-Match': match } });
    await put('d/a.txt', 'one', {}, at);
    const tagOf = async () => (await request(`${at}/entry?path=d/a.txt`)).headers.get('etag') ?? '';
    const stale = await tagOf();
    await put('d/a.txt', 'two', {}, at);
    const etag = await tagOf();
    for (const match of [stale, `W/${etag}`, '"1"'])
      expectRefusal(await remove('d/a.txt', match), 'VERSION_CONFLICT');
    expectRefusal(await remove('d/a.txt', 'a'), 'INVALID_REQUEST');
    for (const match of ['*', etag]) expectRefusal(await remove('d', match), 'INVALID_REQUEST');
    for (const match of ['*', etag]) expectRefusal(await remove('d/b', match), 'FILE_NOT_FOUND');
    expect(await paths('?recursive=true', at)).toEqual(['d', 'd/a.txt']);
    dataOf(await remove('d/a.txt', `${stale}, ${etag}`), 200);
    await put('d/a.txt', 'three', {}, at);
    dataOf(await remove('d/a.txt', '*'), 200);
    expect(await paths('?recursive=true', at)).toEqual(['d']);
  });

  it('lets one of several concurrent deletions and uploads with the same If-Match through', async () => {
    const at = await begin();
    await put('race.txt', 'start', {}, at);
    const etag = (await request(`${at}/entry?path=race.txt`)).headers.get('etag') ?? '';
    const headers = { 'If-Match': etag };
    const responses = await Promise.all([
      ...['a', 'b', 'c'].map((body) => put('race.txt', body, headers, at)),
      ...Array.from({ length: 3 }, () => request(`${at}?path=race.txt`, { method: 'DELETE', headers })),
    ]);
    const refused = responses.filter(({ status }) => status >= 400);
    expect(refused.map(({ status }) => status).every((status) => status === 412 || status === 404)).toBe(
      true,
    );
    expect(refused).toHaveLength(5);
  });

  it('GET …/files/entry returns each entry as in the list', async () => {
    const at = await begin();
    const paths = ['p/a.txt', 'p/100%.md', 'p/ü#?&.ts', 'p/‮exe', 'p/q/b'];
    for (const path of paths) dataOf(await put(path, path, {}, at), 201);
    const listed = await entries('?recursive=true', at);
    expect(listed.map(({ path }) => path)).toEqual(expect.arrayContaining(['p', 'p/q', ...paths]));
    const look = (path: string) => request(`${at}/entry?path=${encodeURIComponent(path)}`);
    for (const entry of listed) {
      const response = await look(entry.path);
      expect(dataOf(response, 200)).toEqual(entry);
      expect(response.headers.get('etag')).toBe(entry.sha256 && `"${entry.sha256}"`);
    }
    const etag = (await look('p/a.txt')).headers.get('etag') ?? '';
    const content = await fetch(`${system.url}/api/v1${at}/content?path=p/a.txt`);
    expect(content.headers.get('etag')).toBe(etag);
    await content.bytes();
    for (const gone of ['p/b', 'P', 'p/a.txt/x']) expectRefusal(await look(gone), 'FILE_NOT_FOUND');
    await request(`${at}?path=p`, { method: 'DELETE' });
    expectRefusal(await look('p/a.txt'), 'FILE_NOT_FOUND');
    for (const bad of ['', '/p', 'p/', 'p/../p', '.ahs-x', 'x'.repeat(256)])
      expect(expectRefusal(await look(bad), 'INVALID_REQUEST')[0]?.pointer).toBe('/path');
    for (const query of ['', '?path=%ff', '?path=p&path=p', '?path=p&depth=1'])
      expectRefusal(await request(`${at}/entry${query}`), 'INVALID_REQUEST');
    const elsewhere = at.replace(/_[0-9A-Z]{26}/, `_${'0'.repeat(26)}`);
    const missing = place === 'sessions' ? 'SESSION_NOT_FOUND' : 'ASSISTANT_NOT_FOUND';
    expectRefusal(await request(`${elsewhere}/entry?path=p`), missing);
  });

  it('are empty at first', async () => {
    expect(await entries()).toEqual([]);
    expect(expectSuccess(await request(`${base}/changes`)).data).toEqual([]);
    expectRefusal(await request(`${base}/content?path=a`), 'FILE_NOT_FOUND');
    expectRefusal(await request(`${base}?path=a`), 'FILE_NOT_FOUND');
    expectRefusal(await request(`${base}?path=a`, { method: 'DELETE' }), 'FILE_NOT_FOUND');
  });

  it('can be uploaded, listed, moved, downloaded and deleted', async () => {
    const at = await begin();
    const big = randomBytes(1_500_000);
    const parts = [
      field('path', 'p'),
      file('a.txt', 'alpha'),
      file('sub/b.bin', big),
      file('sub/ünï.md', ''),
    ];
    const created = dataOf(await form(parts, at), 201);
    expect(created).toMatchObject({ workspace_version: 1 });
    expect(await paths('?recursive=true', at)).toEqual([
      'p',
      'p/a.txt',
      'p/sub',
      'p/sub/b.bin',
      'p/sub/ünï.md',
    ]);
    expect(await paths('', at)).toEqual(['p']);
    expect(await paths('?path=p', at)).toEqual(['p/a.txt', 'p/sub']);
    expect((await content('p/sub/b.bin', at)).equals(big)).toBe(true);
    const found = (await entries('?recursive=true', at)).find(({ path }) => path === 'p/sub/b.bin');
    expect(found).toMatchObject({ kind: 'file', size: big.length, sha256: sha256(big) });
    const json = { 'Content-Type': 'application/json' };
    const move = { method: 'POST', body: JSON.stringify({ from: 'p/sub', to: 'q/r' }), headers: json };
    expect(dataOf(await request(`${at}/move`, move), 200)).toMatchObject({
      entry: { path: 'q/r', kind: 'directory' },
      workspace_version: 2,
    });
    expect((await content('q/r/b.bin', at)).equals(big)).toBe(true);
    const deleted = dataOf(await request(`${at}?path=q`, { method: 'DELETE' }), 200);
    expect(deleted).toEqual({ path: 'q', deleted: true, workspace_version: 3 });
    expect(await paths('?recursive=true', at)).toEqual(['p', 'p/a.txt']);
  });

  it('are listed in pages whose cursors are bound to the filters', async () => {
    const at = await begin();
    const names = Array.from({ length: 7 }, (_, index) => `f${index}`);
    await form([field('path', ''), ...names.map((name) => file(name, name))], at);
    const first = expectSuccess(await request(`${at}?limit=3`));
    expect(first.page).toMatchObject({ has_more: true });
    const cursor = first.page?.next_cursor ?? '';
    const rest = expectSuccess(await request(`${at}?limit=100&cursor=${cursor}`));
    expect([...first.data, ...rest.data].map((entry) => (entry as Entry).path)).toEqual(names);
    expect(rest.page).toEqual({ has_more: false, next_cursor: null });
    expectRefusal(await request(`${at}?recursive=true&cursor=${cursor}`), 'INVALID_CURSOR');
    for (const query of ['?limit=0', '?limit=101', '?recursive=yes', '?path=..', '?path=%ff', '?depth=1'])
      expectRefusal(await request(at + query), 'INVALID_REQUEST');
  });

  it('are paged correctly after the longest possible path', async () => {
    const at = await begin();
    const longest = [...'abcd'].map((letter) => letter.repeat(255)).join('/');
    expect(Buffer.byteLength(longest)).toBe(1023);
    dataOf(await put(longest, '', {}, at), 201);
    dataOf(await put('last', '', {}, at), 201);
    const first = expectSuccess(await request(`${at}?recursive=true&limit=4`));
    const rest = expectSuccess(await request(`${at}?recursive=true&cursor=${first.page?.next_cursor}`));
    expect(rest.data).toMatchObject([{ path: 'last' }]);
  });

  it('creates parent directories, and moves replace an entry only with overwrite', async () => {
    expect(dataOf(await post('/directories', { path: 'd/e/f' }), 201)).toMatchObject({
      entry: { path: 'd/e/f', kind: 'directory', size: 0, sha256: null },
    });
    dataOf(await put('d/one', '1'), 201);
    dataOf(await put('d/two', '2'), 201);
    expectRefusal(await post('/move', { from: 'd/one', to: 'd/two' }), 'NAME_TAKEN');
    expectRefusal(await post('/move', { from: 'd/three', to: 'd/four' }), 'FILE_NOT_FOUND');
    expectRefusal(await post('/directories', { path: 'd/one/x' }), 'NAME_TAKEN');
    expectRefusal(await put('d/one/x', 'x'), 'NAME_TAKEN');
    dataOf(await post('/move', { from: 'd/one', to: 'd/two', overwrite: true }), 200);
    expect((await content('d/two')).toString()).toBe('1');
    for (const [body, pointer] of [
      [{ from: '../x', to: 'y' }, '/from'],
      [{ from: 'x', to: '/y' }, '/to'],
      [{ from: 'x', to: 'y', copy: true }, '/copy'],
      [{ to: 'y' }, '/from'],
    ] as const)
      expect(expectRefusal(await post('/move', body), 'INVALID_REQUEST')[0]?.pointer).toBe(pointer);
    expectRefusal(await post('/directories', { path: 'a\0' }), 'INVALID_TEXT');
    expectRefusal(await request(`${base}?path=`, { method: 'DELETE' }), 'INVALID_REQUEST');
    expectRefusal(await request(base, { method: 'DELETE' }), 'INVALID_REQUEST');
  });

  it('returns the first response for the same Idempotency-Key and refuses another request with it', async () => {
    const at = await begin();
    const key = { 'Idempotency-Key': `key-${place}-${randomBytes(4).toString('hex')}` };
    const first = await put('k.txt', 'one', key, at);
    const again = await put('k.txt', 'one', key, at);
    expect([again.status, again.headers.get('idempotent-replayed'), again.text]).toEqual([
      201,
      'true',
      first.text,
    ]);
    expectRefusal(await put('k.txt', 'two', key, at), 'IDEMPOTENCY_KEY_CONFLICT');
    expectRefusal(await put('other.txt', 'one', key, at), 'IDEMPOTENCY_KEY_CONFLICT');
    expect((await content('k.txt', at)).toString()).toBe('one');
  });

  it('keeps one complete file after concurrent uploads to one path', async () => {
    const at = await begin();
    const bodies = Array.from({ length: 8 }, (_, index) => Buffer.alloc(600_000, index + 1));
    const response = await Promise.all(bodies.map((body) => put('same.bin', body, {}, at)));
    const versions = response.map((one) => dataOf(one, 201).workspace_version);
    expect(new Set(versions)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8]));
    const stored = await content('same.bin', at);
    expect(bodies.some((body) => body.equals(stored))).toBe(true);
    expect(await entries('', at)).toHaveLength(1);
  });

  it('changes nothing when a file or the workspace exceeds its limit', async () => {
    const at = await begin();
    const longest = randomBytes(MAX_FILE);
    dataOf(await put('max', longest, {}, at), 201);
    const longer = Buffer.concat([longest, Buffer.from('x')]);
    expectRefusal(await put('max', longer, {}, at), 'FILE_TOO_LARGE');
    const streamed = { method: 'PUT', body: new Blob([longer]).stream(), duplex: 'half' } as RequestInit;
    expectRefusal(await request(`${at}/content?path=max`, streamed), 'FILE_TOO_LARGE');
    const parts = [field('path', ''), file('a', 'x'), file('b', longer)];
    expectRefusal(await form(parts, at), 'FILE_TOO_LARGE');
    dataOf(await put('more', randomBytes(MAX_FILE), {}, at), 201);
    const two = [field('path', ''), file('a', 'x'), file('b', randomBytes(MAX_FILE))];
    expectRefusal(await form(two, at), 'QUOTA_EXCEEDED');
    const many = Array.from({ length: 30 }, (_, index) => file(`n${index}`, 'x'));
    expectRefusal(await form([field('path', 'n'), ...many], at), 'QUOTA_EXCEEDED');
    expect(await paths('?recursive=true', at)).toEqual(['max', 'more']);
    expect((await content('max', at)).equals(longest)).toBe(true);
  });

  it('lists changes after a seq', async () => {
    const at = await begin();
    await put('a', '1', {}, at);
    await put('a', '2', {}, at);
    await request(`${at}?path=a`, { method: 'DELETE' });
    const { data, page } = expectSuccess(await request(`${at}/changes`));
    expect(data).toMatchObject([
      { seq: 1, kind: 'created', path: 'a', entry: { size: 1 }, workspace_version: 1 },
      {
        seq: 2,
        kind: 'modified',
        path: 'a',
        entry: { sha256: sha256(Buffer.from('2')) },
        workspace_version: 2,
      },
      { seq: 3, kind: 'deleted', path: 'a', entry: null, workspace_version: 3 },
    ]);
    expect(page).toEqual({ has_more: false, next_cursor: null });
    expect(expectSuccess(await request(`${at}/changes?after_seq=2`)).data).toHaveLength(1);
    for (const query of ['?after_seq=-1', '?after_seq=x', '?path=a'])
      expectRefusal(await request(`${at}/changes${query}`), 'INVALID_REQUEST');
  });

  it('downloads a directory as an archive', async () => {
    const at = await begin();
    await form([field('path', 'pack'), file('a.txt', 'alpha'), file('b/ü.txt', 'beta')], at);
    const response = await fetch(`${system.url}/api/v1${at}/archive?path=pack`);
    expect(response.headers.get('content-type')).toBe('application/x-tar');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.length % 512).toBe(0);
    expect(bytes.subarray(257, 262).toString()).toBe('ustar');
    for (const text of ['a.txt', 'alpha', 'ü.txt', 'beta']) expect(bytes.includes(text), text).toBe(true);
    expectRefusal(await request(`${at}/archive?path=nowhere`), 'FILE_NOT_FOUND');
    expectRefusal(await request(`${at}/archive?path=pack/a.txt`), 'FILE_NOT_FOUND');
  });
});
