import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_DOWNLOAD_BYTES } from '../../../edge/files/send-stored.ts';
import { exchange, openRaw } from '../../support/raw-http.ts';
import { until } from '../../support/wait.ts';
import { expectHeaders, expectRefusal, readResponse } from '../envelope.ts';
import { CHUNK_BYTES, sha256 } from './fake-files.ts';
import { ASSISTANT, type FileFixture, openFileFixture, SESSION } from './fixture.ts';

const BYTES = randomBytes(1_000_000);
const ETAG = `"${sha256(BYTES)}"`;

// Over gRPC, because its messages and its flow control are the harder case.
describe('GET …/files/content, from the service over gRPC', () => {
  let fixture: FileFixture;
  beforeAll(async () => {
    fixture = await openFileFixture('gRPC', { SERVICE_STREAM_STALL_SECONDS: '1' });
    await upload('data.bin', BYTES);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const base = () => `${fixture.url}/api/v1/sessions/${SESSION}/files`;
  const urlOf = (path: string) => `${base()}/content?path=${encodeURIComponent(path)}`;
  async function upload(path: string, bytes: Buffer | string): Promise<void> {
    const body = typeof bytes === 'string' ? bytes : new Uint8Array(bytes);
    const { status } = await fetch(urlOf(path), { method: 'PUT', body });
    expect(status).toBe(201);
  }
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(urlOf(path), { headers, method });
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

  it('returns the content with Content-Length, ETag and Content-Disposition', async () => {
    const response = await get('data.bin');
    expect(response.status).toBe(200);
    expectHeaders({ status: 200, headers: response.headers, text: '' });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-length': String(BYTES.length),
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="data.bin"',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      etag: ETAG,
    });
    expect(await bytesOf(response)).toEqual(BYTES);
  });

  it('returns an empty file', async () => {
    await upload('empty.txt', '');
    const headers: Record<string, string>[] = [{}, { Range: 'bytes=0-' }, { Range: 'bytes=-5' }];
    for (const one of headers) {
      const response = await get('empty.txt', one);
      expect([response.status, response.headers.get('content-length')]).toEqual([200, '0']);
      expect(await bytesOf(response)).toHaveLength(0);
    }
  });

  it.each([
    ['the first bytes', 'bytes=0-99', 0, 99],
    ['a single one', 'bytes=7-7', 7, 7],
    ['some in the middle', 'bytes=99999-400000', 99_999, 400_000],
    ['all from somewhere', 'bytes=999000-', 999_000, 999_999],
    ['the last ones', 'bytes=-10', 999_990, 999_999],
    ['more than there are', 'bytes=999990-5000000', 999_990, 999_999],
    ['more of the last than there are', 'bytes=-5000000', 0, 999_999],
    ['all of it', 'bytes=0-', 0, 999_999],
    ['a number beyond counting', `bytes=5-${'9'.repeat(30)}`, 5, 999_999],
  ])('returns %s', async (_, range, first, last) => {
    const response = await get('data.bin', { Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${first}-${last}/${BYTES.length}`);
    expect(response.headers.get('content-length')).toBe(String(last - first + 1));
    expect(response.headers.get('etag')).toBe(ETAG);
    expect((await bytesOf(response)).equals(BYTES.subarray(first, last + 1))).toBe(true);
  });

  it.each([
    'bytes=0-1,5-6',
    'bytes=5-1',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=1.5-2',
    'items=0-1',
    '0-1',
  ])('returns the complete file for the range %s', async (range) => {
    const response = await get('data.bin', { Range: range });
    expect(response.status).toBe(200);
    expect((await bytesOf(response)).length).toBe(BYTES.length);
  });

  it.each(['bytes=1000000-', 'bytes=1000000-1000001', `bytes=${'9'.repeat(30)}-`, 'bytes=-0'])(
    'returns RANGE_NOT_SATISFIABLE with the size of the file for the range %s',
    async (range) => {
      const response = await readResponse(await get('data.bin', { Range: range }));
      expectRefusal(response, 'RANGE_NOT_SATISFIABLE');
      expect(response.headers.get('content-range')).toBe(`bytes */${BYTES.length}`);
      expect(response.headers.get('content-disposition')).toBe(null);
    },
  );

  it('returns a range only if If-Range matches', async () => {
    const statusOf = async (onlyIf: string) =>
      (await get('data.bin', { Range: 'bytes=0-1', 'If-Range': onlyIf })).status;
    expect(await statusOf(ETAG)).toBe(206);
    for (const other of [`"${'0'.repeat(64)}"`, `W/${ETAG}`, 'Wed, 21 Oct 2015 07:28:00 GMT', 'x'])
      expect(await statusOf(other), other).toBe(200);
  });

  it('returns 304 for a matching If-None-Match', async () => {
    for (const known of [ETAG, `W/${ETAG}`, `"a", W/"b",${ETAG}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const response = await get('data.bin', { 'If-None-Match': known, Range: 'bytes=0-1' }, method);
        expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([
          304,
          ETAG,
          '',
        ]);
        expect(response.headers.get('content-type')).toBe(null);
      }
    }
    for (const other of ['"a"', 'a', sha256(BYTES), '""', '"a" "b"'])
      expect((await get('data.bin', { 'If-None-Match': other })).status, other).toBe(200);
  });

  it('returns VERSION_CONFLICT unless If-Match matches', async () => {
    for (const match of [ETAG, '*', `"a", ${ETAG}`])
      expect((await get('data.bin', { 'If-Match': match })).status).toBe(200);
    for (const match of ['"a"', `W/${ETAG}`])
      expectRefusal(await readResponse(await get('data.bin', { 'If-Match': match })), 'VERSION_CONFLICT');
    expectRefusal(await readResponse(await get('data.bin', { 'If-Match': 'a' })), 'INVALID_REQUEST');
  });

  it.each([
    ['plain name (1).txt', 'attachment; filename="plain name (1).txt"', 'text/plain'],
    ['dir/x.html', 'attachment; filename="x.html"', 'text/html'],
    ['ärger.json', `attachment; filename="_rger.json"; filename*=UTF-8''%C3%A4rger.json`, 'application/json'],
    [
      "👋 '*.png",
      `attachment; filename="__ '*.png"; filename*=UTF-8''%F0%9F%91%8B%20%27%2A.png`,
      'image/png',
    ],
    ['a"b\\c%.js', `attachment; filename="a_b_c_.js"; filename*=UTF-8''a%22b%5Cc%25.js`, 'text/javascript'],
    ['mp4', 'attachment; filename="mp4"', 'application/octet-stream'],
    ['x.svg', 'attachment; filename="x.svg"', 'image/svg+xml'],
  ])('has a Content-Disposition and media type for %s', async (path, disposition, type) => {
    await upload(path, 'x');
    const { headers } = await get(path);
    expect(headers.get('content-disposition')).toBe(disposition);
    expect(headers.get('content-type')).toBe(type);
  });

  it('HEAD returns the headers for a file of any size', async () => {
    const response = await get('data.bin', { Range: 'bytes=0-1' }, 'HEAD');
    expect([response.status, response.headers.get('content-length'), response.headers.get('etag')]).toEqual([
      200,
      String(BYTES.length),
      ETAG,
    ]);
    fixture.files.addEntry('long.bin', MAX_DOWNLOAD_BYTES + 1);
    const long = await get('long.bin', {}, 'HEAD');
    expect([long.status, long.headers.get('content-length')]).toEqual([200, String(MAX_DOWNLOAD_BYTES + 1)]);
  });

  it('returns FILE_TOO_LARGE for more than 64 MiB in one response', async () => {
    /** Returns the status and the announced length of a response without reading it. */
    const headOf = async (response: Response) => {
      await response.body?.cancel();
      return [response.status, response.headers.get('content-length')];
    };
    fixture.files.addEntry('just.bin', MAX_DOWNLOAD_BYTES);
    expect(await headOf(await get('just.bin'))).toEqual([200, String(MAX_DOWNLOAD_BYTES)]);
    fixture.files.addEntry('long.bin', MAX_DOWNLOAD_BYTES + 1);
    expectRefusal(await readResponse(await get('long.bin')), 'FILE_TOO_LARGE');
    expectRefusal(await readResponse(await get('long.bin', { Range: 'bytes=0-' })), 'FILE_TOO_LARGE');
    const part = await get('long.bin', { Range: 'bytes=1-' });
    expect(await headOf(part)).toEqual([206, String(MAX_DOWNLOAD_BYTES)]);
  });

  it('returns 400 for directories and invalid paths', async () => {
    fixture.files.addEntry('folder', 0, 'directory');
    fixture.files.addEntry('link', 0, 'symlink');
    for (const path of ['folder', 'link', '', '..', '/etc/passwd', '.ahs-x'])
      expect(expectRefusal(await readResponse(await get(path)), 'INVALID_REQUEST')[0]?.pointer).toBe('/path');
    expectRefusal(await readResponse(await get('nowhere')), 'FILE_NOT_FOUND');
    expectRefusal(await readResponse(await get('a\0')), 'INVALID_TEXT');
    for (const query of ['', '?path=a&path=b', '?path=%ff', '?path=a&x=1'])
      expectRefusal(await readResponse(await fetch(`${base()}/content${query}`)), 'INVALID_REQUEST');
  });

  it('returns an error status before the first byte and closes the connection after it', async () => {
    fixture.files.faults.breakAfter = 0;
    const response = await readResponse(await get('data.bin'));
    expectRefusal(response, 'CONTENT_DAMAGED');
    expect([response.headers.get('etag'), response.headers.get('content-disposition')]).toEqual([null, null]);
    fixture.files.faults.breakAfter = 5 * CHUNK_BYTES;
    const head = `GET ${new URL(urlOf('data.bin')).pathname}?path=data.bin HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const answer = await exchange(fixture.url, head);
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(BYTES.length)]);
    expect(answer.text.length).toBeLessThan(BYTES.length);
    await expect(get('data.bin').then(bytesOf)).rejects.toThrow();
    fixture.files.faults.breakAfter = undefined;
  });

  it('closes the connection of a stalled client and ends the call to the service', async () => {
    fixture.files.addEntry('just.bin', MAX_DOWNLOAD_BYTES);
    const connection = openRaw(fixture.url);
    connection.socket.pause();
    connection.send(`GET ${new URL(urlOf('x')).pathname}?path=just.bin HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until('the service sends the content', () => fixture.files.reading() === 1);
    await until('the call to the service has ended', () => fixture.files.reading() === 0);
    connection.socket.resume();
    expect((await connection.rest()).length).toBeLessThan(MAX_DOWNLOAD_BYTES);
  });

  it('ends the call to the service when the client disconnects', async () => {
    fixture.files.addEntry('just.bin', MAX_DOWNLOAD_BYTES);
    const leaving = new AbortController();
    const response = await fetch(urlOf('just.bin'), { signal: leaving.signal });
    await until('the service sends the content', () => fixture.files.reading() === 1);
    leaving.abort();
    await response.body?.cancel().catch(() => {});
    await until('the call to the service has ended', () => fixture.files.reading() === 0);
  });

  it('returns an archive as a tar file, or an error', async () => {
    const other = base().replace(`sessions/${SESSION}`, `assistants/${ASSISTANT}`);
    const body = new Uint8Array(BYTES);
    await fetch(`${other}/content?path=data.bin`, { method: 'PUT', body });
    const response = await fetch(`${other}/archive?path=docs`);
    expect(response.status).toBe(200);
    expectHeaders({ status: 200, headers: response.headers, text: '' });
    expect(response.headers.get('content-type')).toBe('application/x-tar');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="docs.tar"');
    expect((await bytesOf(response)).length).toBeGreaterThanOrEqual(BYTES.length);
    const archiveHead = await fetch(`${other}/archive`, { method: 'HEAD' });
    expect([archiveHead.status, archiveHead.headers.get('content-disposition')]).toEqual([
      200,
      `attachment; filename="${ASSISTANT}.tar"`,
    ]);
    fixture.files.faults.breakAfter = 0;
    expectRefusal(await readResponse(await fetch(`${other}/archive`)), 'CONTENT_DAMAGED');
    fixture.files.faults.breakAfter = CHUNK_BYTES;
    await expect(fetch(`${other}/archive`).then(bytesOf)).rejects.toThrow();
    fixture.files.faults.breakAfter = undefined;
    expectRefusal(await readResponse(await fetch(`${other}/archive?path=..`)), 'INVALID_REQUEST');
  });
});
